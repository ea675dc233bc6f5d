# SPDX-License-Identifier: Apache-2.0
"""Processes that are measured: started on one core, watched through /proc, ended for sure."""

import os
import socket
import subprocess
import time

CORES = sorted(os.sched_getaffinity(0))
PROXY_CORE = CORES[0]
LOAD_CORE = CORES[-1]
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Process:
    """A child process, pinned to a core, with its output in a file."""

    def __init__(self, name, command, core, directory, port):
        self.name = name
        self.log = os.path.join(directory, name + ".log")
        with open(self.log, "wb") as log:
            self.child = subprocess.Popen(
                ["taskset", "-c", str(core), *command],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=directory)
        self.await_port(port)

    def await_port(self, port):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if self.child.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.02)
        with open(self.log, errors="replace") as log:
            raise SystemExit(f"{self.name} did not start:\n{log.read()}")

    def cpu_seconds(self):
        """User and system time of all threads, ended ones too."""
        with open(f"/proc/{self.child.pid}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return int(fields[11]) / TICKS_PER_SECOND, int(fields[12]) / TICKS_PER_SECOND

    def resident_mebibytes(self):
        with open(f"/proc/{self.child.pid}/status") as status:
            for line in status:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) / 1024
        return 0.0

    def stop(self):
        self.child.terminate()
        try:
            self.child.wait(5)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
