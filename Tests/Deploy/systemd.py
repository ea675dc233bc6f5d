# SPDX-License-Identifier: Apache-2.0
"""The units, as systemd-analyze judges them. What they do under a real systemd is in machine.py."""

import os
import re
import shutil

from testing import binary, expect, need, output, run

UNITS = ["bearerd.service", "bearerd@.service", "bearerd.socket"]
SERVICES = [unit for unit in UNITS if unit.endswith(".service")]
# The netlink sockets by which the daemon learns whose a local connection is cost 0.1.
LIMIT = 1.3


def text(unit):
    return open(os.path.join("deploy/systemd", unit)).read()


def test_they_are_correct(directory):
    need("systemd-analyze")
    for folder in ("etc/systemd/system", "usr/bin", "bin"):
        os.makedirs(os.path.join(directory, folder))
    for unit in UNITS:
        shutil.copy(os.path.join("deploy/systemd", unit), os.path.join(directory, "etc/systemd/system"))
    shutil.copy(binary(), os.path.join(directory, "usr/bin/bearerd"))
    shutil.copy("/bin/sh", os.path.join(directory, "bin/sh"))
    # Units of systemd itself, which these name.
    shutil.copytree("/lib/systemd/system", os.path.join(directory, "lib/systemd/system"), symlinks=True)
    shutil.copytree("/lib/systemd/system", os.path.join(directory, "usr/lib/systemd/system"), symlinks=True)
    said = run("systemd-analyze", "verify", "--man=no", "--recursive-errors=no", f"--root={directory}",
               *(unit.replace("@.", "@one.") for unit in UNITS))
    expect(not said, said)


def test_a_service_that_is_broken_into_gets_nowhere():
    need("systemd-analyze")
    for unit in SERVICES:
        said = output("systemd-analyze", "security", "--offline=yes", os.path.join("deploy/systemd", unit))
        exposure = float(re.search(r"exposure level for .*: ([\d.]+)", said)[1])
        expect(exposure <= LIMIT, f"{unit}: {exposure}\n" + "\n".join(re.findall(r"^✗.*", said, re.M)))


def test_they_do_what_is_promised():
    for unit in SERVICES:
        for line in ("Type=notify", "RestartPreventExitStatus=64 78", "ExecReload=/usr/bin/bearerd reload -c ", "WatchdogSec=", "LimitNOFILE=",
                     "StartLimitIntervalSec=120", "StartLimitBurst=10", "TasksMax=", "MemoryMax="):
            expect(f"\n{line}" in text(unit), f"{unit}: no {line}")
        # A port in use ends each start at once: ten of them, and the pauses between, are over within the interval.
        burst, pause = (int(re.search(rf"^{key}=(\d+)", text(unit), re.M)[1]) for key in ("StartLimitBurst", "RestartSec"))
        expect(burst * (pause + 5) < 120, f"{unit}: ten starts take longer than the interval, so that it never ends as failed")
        expect(int(re.search(r"^TimeoutStopSec=(\d+)", text(unit), re.M)[1]) > 30, f"{unit}: no time to drain")
    expect("bearerd run -c /etc/bearerd/%i.yaml" in text("bearerd@.service"), "the template has another file")
    expect("\nStateDirectory=bearerd/%i\n" in text("bearerd@.service"), "the template has another store")


def test_both_services_are_locked_in_alike():
    first, second = (re.findall(r"^[A-Z]\w+=.*", text(unit).partition("# What it may do.")[2], re.M) for unit in SERVICES)
    expect(first and first == second, set(first) ^ set(second))
