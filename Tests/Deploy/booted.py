# SPDX-License-Identifier: Apache-2.0
"""A Debian of its own with a real systemd, booted in a namespace; it shares this machine's network."""

import os
import shutil
import signal
import subprocess
import uuid

from testing import BUILD, Process, Skipped, expect, need, run, wait_until

# systemd-nspawn's own filter does not know Landlock.
LANDLOCK = "landlock_create_ruleset landlock_add_rule landlock_restrict_self"


def fresh_root(directory):
    """An unpacked Debian with systemd; the archive of it is made once."""
    need("mmdebstrap", "systemd-nspawn")
    archive = os.path.join(BUILD, "deploy", "debian-12.tar")
    if not os.path.exists(archive):
        os.makedirs(os.path.dirname(archive), exist_ok=True)
        made = subprocess.run(
            ["mmdebstrap", "--format=tar", "--variant=minbase", "--include=systemd,systemd-sysv,dbus,ca-certificates,curl",
             "bookworm", archive + ".part"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if made.returncode:
            raise Skipped(f"mmdebstrap made no Debian: {made.stdout.strip().splitlines()[-1]}")
        os.rename(archive + ".part", archive)
    root = os.path.join(directory, "root")
    os.mkdir(root)
    run("tar", "--extract", "--file", archive, "--directory", root, "--numeric-owner", "--exclude=./dev/*")
    return root


class Booted:
    """The machine; commands run in it as root."""

    def __init__(self, directory):
        if os.geteuid():
            raise Skipped("only root can boot a system")
        self.root = fresh_root(directory)
        if os.path.exists("/etc/resolv.conf"):
            os.path.lexists(self.path("/etc/resolv.conf")) and os.remove(self.path("/etc/resolv.conf"))
            shutil.copy("/etc/resolv.conf", self.path("/etc/resolv.conf"))
        self.log = os.path.join(directory, "console")
        name = f"bearerd-{uuid.uuid4().hex[:8]}"
        self.process = Process(
            ["systemd-nspawn", "--quiet", f"--directory={self.root}", "--register=no", "--keep-unit", "--resolv-conf=off",
             "--timezone=off", "--link-journal=no", "--console=pipe", f"--system-call-filter={LANDLOCK}",
             f"--machine={name}", "--boot"], self.log)
        try:
            self.leader = wait_until(self._leader, "the first process of the machine", 60)
            self.process.wait_until(
                lambda: self.run("systemctl", "is-system-running")[1].strip() in ("running", "degraded"), "systemd", 120)
        except AssertionError as error:
            self.stop()
            raise Skipped(f"no systemd boots here: {error}") from None

    def _leader(self):
        """systemd, the child of systemd-nspawn."""
        expect(self.process.child.poll() is None, lambda: f"systemd-nspawn ended:\n{self.process.tail()}")
        path = f"/proc/{self.process.child.pid}/task/{self.process.child.pid}/children"
        for child in open(path).read().split():
            if os.path.basename(os.readlink(f"/proc/{child}/exe")) in ("systemd", "init"):
                return child
        return None

    def path(self, name):
        """A file of the machine, seen from here."""
        return self.root + name

    def run(self, *command):
        """Exit code, and what it wrote."""
        done = subprocess.run(
            ["nsenter", "--target", self.leader, "--mount", "--uts", "--ipc", "--pid", "--root", "--wd", "--",
             "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", *command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        return done.returncode, done.stdout

    def must(self, *command):
        code, said = self.run(*command)
        expect(code == 0, lambda: f"{' '.join(command)}: exit {code}\n{said[-3000:]}\n{self.journal()[-3000:]}")
        return said

    def show(self, unit, name):
        """A property of a unit."""
        return self.must("systemctl", "show", "--value", "--property", name, unit).strip()

    def journal(self, unit="bearerd"):
        return self.run("journalctl", "--no-pager", "--output=cat", f"--unit={unit}")[1]

    def write(self, name, text, mode=0o644):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        if os.path.lexists(self.path(name)):
            os.remove(self.path(name))
        with open(os.open(self.path(name), os.O_WRONLY | os.O_CREAT, mode), "w") as file:
            file.write(text)
        os.chmod(self.path(name), mode)

    def drop_in(self, unit, text):
        """What `systemctl edit` would write; empty takes it away."""
        self.write(f"/etc/systemd/system/{unit}.d/test.conf", text)
        self.must("systemctl", "daemon-reload")

    def stop(self):
        if self.process.child.poll() is None:
            self.process.child.send_signal(signal.SIGTERM)
            try:
                self.process.child.wait(20)
            except subprocess.TimeoutExpired:
                self.process.stop(patience=0)
