# SPDX-License-Identifier: Apache-2.0
"""The dashboard: a real Prometheus reads a real daemon, and each panel's query brings something."""

import json
import os
import re
import urllib.parse

from testing import Daemon, Process, expect, fetch, free_port, need, output, wait_until, write

DASHBOARD = "deploy/grafana/bearerd.json"


def dashboard():
    return json.load(open(DASHBOARD))


def queries():
    """Each panel's, annotation's and variable's title with its expression."""
    board = dashboard()
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            yield f"{panel['title']} {target['refId']}", target["expr"]
    for annotation in board["annotations"]["list"]:
        yield annotation["name"], annotation["expr"].removesuffix("> 0 and on (job, instance) bearerd_build_info")
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["name"], re.fullmatch(r"label_values\((.*), \w+\)", variable["definition"])[1]


def labels(expression, legend):
    """Those that a panel groups by or shows: a wrong name would be an empty one."""
    grouped = re.findall(r"\bby \(([^)]*)\)", expression)
    return {name.strip() for names in grouped[:1] for name in names.split(",")} - {"le"} | set(
        re.findall(r"\{\{(\w+)\}\}", legend or "")) - {"le"}


def test_panels_have_titles_descriptions_and_places_of_their_own():
    panels = dashboard()["panels"]
    taken = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                 for y in range(place["y"], place["y"] + place["h"])}
        expect(not cells & taken, f"{panel['title']} lies on another panel")
        expect(place["x"] + place["w"] <= 24, f"{panel['title']} is too wide")
        taken |= cells
        expect(panel["type"] == "row" or panel["description"], f"{panel['title']} has no description")
    expect(len({panel["id"] for panel in panels}) == len(panels), "two panels have one id")


def test_each_query_brings_something_of_a_real_daemon(directory):
    need("prometheus", "promtool")
    with Daemon(directory) as daemon:
        port = free_port()
        config = write(os.path.join(directory, "prometheus.yml"), json.dumps({
            "global": {"scrape_interval": "1s"},
            "rule_files": [os.path.abspath("deploy/prometheus/bearerd.rules.yaml")],
            "scrape_configs": [{"job_name": "bearerd",
                                "static_configs": [{"targets": [f"127.0.0.1:{daemon.admin}"]}]}]}), mode=0o644)
        prometheus = Process(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={directory}/data",
             f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn"], os.path.join(directory, "prometheus.log"))

        def ask(expression):
            status, text = fetch(f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({
                "query": expression.replace("$__rate_interval", "20s")
                .replace("$job", ".+").replace("$instance", ".+").replace("$route", ".+").replace("$identity", ".+")}))
            expect(status == 200, f"{expression}: {text[:300]}")
            return json.loads(text)["data"]["result"]

        def seen():
            for path in ("/whoami", "/nobody"):
                daemon.get(path)
            try:
                if fetch(f"http://127.0.0.1:{port}/-/ready")[0] != 200:
                    return False
                return len(ask("count_over_time(bearerd_build_info[1m]) >= 4")) == 1
            except OSError:
                return False

        try:
            prometheus.wait_until(seen, "four scrapes by Prometheus", seconds=90)
            for panel in dashboard()["panels"]:
                for target in panel.get("targets", []):
                    found = wait_until(lambda: ask(target["expr"]), f"the query of '{panel['title']}'", 15, 0.5)
                    for name in labels(target["expr"], target.get("legendFormat")):
                        expect(all(series["metric"].get(name) for series in found),
                               f"{panel['title']}: a series without {name}: {found[:2]}")
            for title, expression in queries():
                wait_until(lambda: ask(expression), f"the query of '{title}' brings something: {expression}", 15, 0.5)
            failures = ask('sum(rate(bearerd_upstream_failures_total{route="/nobody", reason="refused"}[20s])) > 0')
            expect(failures, "the failures of the upstream that is not there are not counted")
        finally:
            prometheus.stop()
