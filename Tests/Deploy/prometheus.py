# SPDX-License-Identifier: Apache-2.0
"""The alerts: promtool's unit tests, and what they name exists."""

import re

from testing import Daemon, expect, fetch, need, run

RULES = "deploy/prometheus/bearerd.rules.yaml"
TESTS = "deploy/prometheus/bearerd.tests.yaml"


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


def test_every_metric_and_label_value_is_one_that_bearerd_has(directory):
    rules = open(RULES).read()
    with Daemon(directory) as daemon:
        daemon.get("/whoami")
        page = fetch(f"http://127.0.0.1:{daemon.admin}/metrics")[1]
    for metric in set(re.findall(r"\b(?:bearerd|process)_[a-z_]+\b", rules)):
        expect(re.search(rf"^{metric}[{{ ]", page, re.M), f"/metrics has no {metric}")
    for state in re.findall(r'state="(\w+)"', rules):
        expect(f'state="{state}"' in page, f"/metrics has no state {state}")
    expect('outcome="success"' in page, "/metrics has no outcome success")
