# SPDX-License-Identifier: Apache-2.0
"""What was measured of one scenario, as medians and as ratios within a round, beside the goals."""

import statistics
from collections import defaultdict

from scenarios import SignedGoal


class Results:
    def __init__(self, scenario):
        self.scenario = scenario
        # A run for each round, by proxy and target.
        self.runs = defaultdict(list)
        # What a signature cost in each round, in µs.
        self.signatures = []

    def add(self, name, target, run):
        self.runs[name, target].append(run)

    def median(self, lane, key):
        return statistics.median(run[key] for run in self.runs[lane])

    def ratio(self, lane, reference, key):
        """The median of the ratios, not the ratio of the medians: a round's runs share the machine's mood."""
        return statistics.median(
            run[key] / other[key] for run, other in zip(self.runs[lane], self.runs[reference]))

    def columns(self):
        """Each a heading, its width, and what stands there for a lane."""
        def median(key, digits):
            return lambda lane: f"{self.median(lane, key):.{digits}f}"

        def ratio(key, reference):
            return lambda lane: f"{self.ratio(lane, reference(lane), key):.2f}x"

        latencies = [(f"{key} ms", 8, median(key, 2))
                     for key in ("p50", "p99", "mean") if key in next(iter(self.runs.values()))[0]]
        reference = self.scenario.among[0] if self.scenario.among else "nginx"
        other = (lambda lane: (lane[0], "plain")) if self.scenario.only else (lambda lane: (reference, lane[1]))
        of_nginx = ("of plain" if self.scenario.only else f"of {reference}", 11, ratio("p99", other))
        if self.scenario.bulk:  # CPU time belongs to the bulk: how long the others wait is what counts
            return [("requests/s", 11, median("rate", 0)), *latencies, of_nginx]
        columns = [("µs/request", 11, median("cpu", 1)), (of_nginx[0], 11, ratio("cpu", other))]
        if self.scenario.has_floor:
            columns.append(("of floor", 9, ratio("cpu", lambda lane: ("floor", lane[1]))))
        if len(self.scenario.targets) > 1 and not self.scenario.only:
            columns.append(("of TCP", 9, ratio("cpu", lambda lane: (lane[0], "plain"))))
        columns += [("user µs", 8, median("user", 1)), ("requests/s", 11, median("rate", 0)), *latencies]
        return columns if "mean" in latencies[0][0] else [*columns, of_nginx]

    def show(self, lanes):
        columns = self.columns()
        print(f"\n{self.scenario.title}")
        print(f"  {'':18}" + "".join(f"{heading:>{width}}" for heading, width, _ in columns) + " RSS MiB")
        for proxy, target in lanes:
            lane = proxy.name, target
            label = f"{proxy.name} {target}" if len(self.scenario.targets) > 1 else proxy.name
            failures = sum(run["failures"] for run in self.runs[lane])
            print(f"  {label:18}" + "".join(f"{value(lane):>{width}}" for _, width, value in columns)
                  + f"{proxy.process.resident_mebibytes():8.1f}" + (f"   {failures} FAILED" if failures else ""))
        for goal in self.scenario.goals:
            (self.show_signed if isinstance(goal, SignedGoal) else self.show_goal)(goal)

    def show_signed(self, goal):
        rounds = zip(self.runs["bearerd", "dpop"], self.runs["bearerd", "plain"], self.signatures)
        beyond = statistics.median(bound["cpu"] - plain["cpu"] - signature for bound, plain, signature in rounds)
        print(f"  goal: at most {goal.most:.1f} µs beyond a bearer token and a signature of "
              f"{statistics.median(self.signatures):.1f} µs: {beyond:.1f}, "
              + ("reached" if beyond <= goal.most else "MISSED"), flush=True)

    def show_goal(self, goal):
        reference = ("bearerd", "plain") if goal.of == "plain" else (goal.of, goal.target)
        if reference not in self.runs:  # Envoy, where there is none
            return
        ratio = round(self.ratio(("bearerd", goal.target), reference, goal.key), 2)
        what = "p99" if goal.key == "p99" else "CPU time"
        own = "that beside bearer tokens" if self.scenario.timed else "its own over TCP"
        of = own if goal.of == "plain" else f"that of {goal.of}"
        print(f"  goal: {what} at most {goal.most:.2f} times {of}: {ratio:.2f}, "
              + ("reached" if ratio <= goal.most else "MISSED"), flush=True)
