# SPDX-License-Identifier: Apache-2.0
"""The alerts: promtool's unit tests, and what they name exists."""

import os
import re

from testing import Daemon, expect, fetch, need, run, write

RULES = "deploy/prometheus/bearerd.rules.yaml"
TESTS = "deploy/prometheus/bearerd.tests.yaml"
INHIBITION = "deploy/prometheus/alertmanager.yaml"
COPIES = ["deploy/helm/bearerd/files/bearerd.rules.yaml",
          "deploy/kubernetes/gateway/components/monitoring/prometheusrule.yaml"]


def test_the_rules_are_well_formed():
    need("promtool")
    run("promtool", "check", "rules", RULES)


def test_each_alert_fires_when_it_should_and_only_then():
    need("promtool")
    run("promtool", "test", "rules", TESTS)


def test_no_alert_is_without_a_test():
    alerts = set(re.findall(r"- alert: (\w+)", open(RULES).read()))
    tested = set(re.findall(r"\b(Bearerd\w+)", open(TESTS).read()))
    expect(alerts == tested, f"not tested: {alerts - tested}; unknown: {tested - alerts}")


def test_each_alert_leads_to_a_section_of_the_page_on_troubleshooting():
    page = open("docs/troubleshooting.md").read()
    rules = re.findall(r"^ +- alert: (\w+)|^ +runbook_url: (\S+)", open(RULES).read(), re.M)
    for (alert, _), (_, url) in zip(rules[::2], rules[1::2], strict=True):
        expect(url == f"docs/troubleshooting.md#{alert.lower()}", f"{alert} leads to {url}")
        expect(f"\n### `{alert}`\n" in page, f"docs/troubleshooting.md has no section `{alert}`")


def test_the_copies_are_those_of_the_rules():
    kept = {path: open(path).read() for path in COPIES}
    run("deploy/prometheus/copies")
    changed = [path for path, text in kept.items() if open(path).read() != text]
    expect(not changed, f"{changed} were others: commit what deploy/prometheus/copies has made")


def test_alerts_that_make_others_needless_are_alerts_and_alertmanager_takes_them(directory):
    need("amtool")
    text = open(INHIBITION).read()
    run("amtool", "check-config", write(os.path.join(directory, "alertmanager.yaml"), text + "route: { receiver: nobody }\nreceivers: [{ name: nobody }]\n"))
    alerts = set(re.findall(r"- alert: (\w+)", open(RULES).read()))
    named = set(re.findall(r"\bBearerd[A-Z]\w+", text))
    expect(named and named <= alerts, f"unknown: {named - alerts}")


def test_every_metric_and_label_value_is_one_that_bearerd_has(directory):
    rules = open(RULES).read()
    with Daemon(directory) as daemon:
        daemon.get("/whoami")
        page = fetch(f"http://127.0.0.1:{daemon.admin}/metrics")[1]
    for metric in set(re.findall(r"\b(?:bearerd|process)_[a-z_]+\b", rules)):
        expect(re.search(rf"^(# TYPE )?{metric}[{{ ]", page, re.M), f"/metrics has no {metric}")
    for state in re.findall(r'state="(\w+)"', rules):
        expect(f'state="{state}"' in page, f"/metrics has no state {state}")
    expect('outcome="success"' in page, "/metrics has no outcome success")
