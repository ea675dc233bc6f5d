# SPDX-License-Identifier: Apache-2.0
"""The load generators: the command of each for a target, and what its output says; and loads that have to be answered."""

import contextlib
import os
import re
import subprocess
import sys

from processes import LOAD_CORE

UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}


def milliseconds(text):
    number, unit = re.fullmatch(r"([\d.]+)(\w+)", text).groups()
    return float(number) * UNITS[unit]


class Wrk:
    """Knows how long the slowest took, and no Unix sockets."""

    @staticmethod
    def command(listen, path, connections, seconds, headers, script, directory):
        """`script` is Lua, for what is no plain GET."""
        name = os.path.join(directory, f"wrk-{hash(script):x}.lua")
        if not os.path.exists(name):
            with open(name, "w") as file:
                file.write(script)
        command = ["taskset", "-c", str(LOAD_CORE), "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency",
                   "--timeout", "10s", "-s", name]
        for header in headers:
            command += ["-H", header]
        return [*command, f"http://{listen}{path}"]

    @staticmethod
    def result(output):
        """Requests a second, times in milliseconds, and how many failed; None if there is nothing to read."""
        rate = re.search(r"^Requests/sec: +([\d.]+)", output, re.MULTILINE)
        times = dict(re.findall(r"^ +(\d+)% +([\d.]+\w+)", output, re.MULTILINE))
        if not rate or not times:
            return None
        failures = sum(map(int, re.findall(r"(?:connect|read|write|timeout) (\d+)", output)))
        failures += sum(map(int, re.findall(r"Non-2xx or 3xx responses: (\d+)", output)))
        return {
            "rate": float(rate.group(1)), "p50": milliseconds(times["50"]), "p99": milliseconds(times["99"]),
            "failures": failures,
        }


class H2load:
    """Knows TCP and Unix sockets, so that they can be compared, and only the mean of what requests took."""

    # What is said of the protocol.
    options = ("--h1",)

    @classmethod
    def command(cls, listen, path, connections, seconds, headers, script, directory):
        """`script` is a body in hexadecimal digits, for what is no GET."""
        command = ["taskset", "-c", str(LOAD_CORE), "h2load", *cls.options, "-t1", f"-c{connections}", f"-D{seconds}"]
        if script:
            name = os.path.join(directory, f"h2load-{hash(script):x}.body")
            with open(name, "wb") as file:
                file.write(bytes.fromhex(script))
            command += ["-d", name]
        for header in headers:
            command += ["-H", header]
        base = listen if listen.startswith("unix:") else f"http://{listen}"
        return [*command, f"--base-uri={base}", f"http://localhost{path}"]

    @staticmethod
    def result(output):
        rate = re.search(r"^finished in [^,]+, ([\d.]+) req/s", output, re.MULTILINE)
        mean = re.search(r"^time for request: +\S+ +\S+ +(\S+)", output, re.MULTILINE)
        if not rate or not mean:
            return None
        failures = re.search(r"^requests: .* (\d+) failed, ", output, re.MULTILINE)
        return {
            "rate": float(rate.group(1)), "mean": milliseconds(mean.group(1)), "failures": int(failures.group(1)),
        }


class H2loadStreams(H2load):
    """HTTP/2 with ten streams on each connection."""

    options = ("-m10",)


class H2loadConnection(H2load):
    """HTTP/2 with 32 streams on each connection."""

    options = ("-m32",)


def answered_load(scenario, proxy, directory, seconds):
    """Puts a load on a proxy, every request of which has to be answered as it should be."""
    command = scenario.generator.command(
        proxy.targets[scenario.targets[0]].listen, scenario.path, scenario.connections, seconds, scenario.headers, scenario.script,
        directory)
    output = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds + 60, check=True).stdout
    result = scenario.generator.result(output)
    if result is None or result["failures"]:
        sys.exit(f"{proxy.name}: '{scenario.name}' was not answered as it should be:\n{output}")


@contextlib.contextmanager
def open_streams(scenario, proxy):
    """Event streams through a proxy, each of which has had an event."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "streams.py")
    listen = proxy.targets[scenario.targets[0]].listen
    client = subprocess.Popen(
        ["taskset", "-c", str(LOAD_CORE), sys.executable, script, "client", listen, str(scenario.connections)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        if client.stdout.readline() != "open\n":
            sys.exit(f"{proxy.name}: the streams did not open")
        yield
    finally:
        client.kill()
        client.wait()
