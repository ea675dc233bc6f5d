# SPDX-License-Identifier: Apache-2.0
"""The program under test: one configuration with one identity, its store, its commands and its daemon."""

import json
import os
import subprocess
import threading
import time

from browser import Browser
from support import Process, expect, free_port, fresh_directory, wait_until, write

BINARY = os.path.abspath(os.environ.get("BEARERD", ".build/debug/bearerd"))

EXIT_DONE, EXIT_UNAVAILABLE, EXIT_PERMISSION = 0, 69, 77


class Result:
    """What a finished command said."""

    def __init__(self, arguments, code, out, err):
        self.arguments, self.code, self.out, self.err = arguments, code, out, err

    def __str__(self):
        return f"bearerd {' '.join(self.arguments)}: exit {self.code}: {(self.err or self.out).strip()[:400]}"

    def must_be(self, code=EXIT_DONE):
        expect(self.code == code, lambda: f"{self}, expected exit {code}")
        return self


class Login:
    """`bearerd login` while it waits for the browser."""

    def __init__(self, sidecar, *options, patience=30):
        self.arguments = ["login", *options, "--timeout", f"{patience}s"]
        self.child = subprocess.Popen(
            sidecar.command_line(*self.arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        self.said, self.complaints = [], []
        self.readers = [threading.Thread(target=self._collect, args=pair, daemon=True)
                        for pair in ((self.child.stdout, self.said), (self.child.stderr, self.complaints))]
        for reader in self.readers:
            reader.start()

    def _collect(self, stream, into):
        for line in stream:
            into.append(line)

    def address(self, containing, patience=20):
        """The first word of its output that is a URL with `containing` in it."""
        def look():
            for line in [*self.said, *self.complaints]:
                for word in line.split():
                    if word.startswith("http") and containing in word:
                        return word
            if self.child.poll() is not None and not any(reader.is_alive() for reader in self.readers):
                self.result().must_be(EXIT_DONE)
                raise AssertionError(f"login ended without showing an address: {''.join(self.said)}")
            return None
        return wait_until(look, "the address that login prints", patience)

    def device_code(self):
        """What `--device` tells the person: where to go, preferably with the code, and the code."""
        self.address("http")
        time.sleep(1)  # the rest of it; and the provider is asked once before anybody has agreed
        told = dict(line.strip().rsplit(" ", 1) for line in [*self.said, *self.complaints] if " " in line)
        return told.get("or visit", told.get("visit")), told.get("enter")

    def result(self, patience=40):
        try:
            code = self.child.wait(patience)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
            raise AssertionError("login does not end") from None
        for reader in self.readers:
            reader.join(5)
        return Result(self.arguments, code, "".join(self.said), "".join(self.complaints))

    def give_up(self):
        """Ends it if it has not ended."""
        if self.child.poll() is None:
            self.child.terminate()
            self.child.wait()


class Sidecar:
    """bearerd with one identity, `default`, in front of one upstream."""

    def __init__(self, directory, identity, upstream, store=None):
        self.directory = fresh_directory(directory)
        self.identity, self.upstream = identity, upstream
        self.store = store or os.path.join(directory, "store")
        self.config = os.path.join(directory, "config.yaml")
        self.port, self.admin = free_port(), free_port()
        self.browser = Browser()
        self.daemon = None
        self.configure(identity)

    def configure(self, identity):
        """Writes the configuration; JSON is YAML."""
        self.identity = identity
        write(self.config, json.dumps({
            "listen": f"127.0.0.1:{self.port}", "admin": {"listen": f"127.0.0.1:{self.admin}"}, "workers": 1,
            "identities": {"default": identity},
            "routes": [{"path": "/", "upstream": self.upstream, "identity": "default"}],
            "store": {"type": "file", "directory": self.store},
            "shutdown": {"grace": "3s"},
        }, indent=2))

    def command_line(self, command, *arguments):
        return [BINARY, command, *arguments, "-c", self.config]

    def command(self, *arguments, patience=60):
        """Runs a command to its end."""
        done = subprocess.run(self.command_line(*arguments), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=patience)
        return Result(arguments, done.returncode, done.stdout, done.stderr)

    def token(self):
        """A fresh access token."""
        return self.command("token").must_be().out.strip()

    def status(self):
        """What `status --json` says of the identity."""
        report = json.loads(self.command("status", "--json").must_be().out)
        return report["identities"][0]

    def start(self):
        """Starts the daemon and waits until it listens."""
        self.daemon = Process([BINARY, "run", "-c", self.config], os.path.join(self.directory, "log"))
        self.daemon.wait_until(self._is_up, "bearerd run", seconds=20)
        return self

    def _is_up(self):
        try:
            return self.browser.request("GET", f"http://127.0.0.1:{self.admin}/healthz").status == 200
        except OSError:
            return False

    def call(self, path="/orders"):
        """One request of a client that knows nothing of OAuth."""
        return self.browser.request("GET", f"http://127.0.0.1:{self.port}{path}")

    def stop(self):
        """Stops the daemon, which must end in peace and may not have logged a token."""
        if not self.daemon:
            return
        code = self.daemon.stop()
        log = open(self.daemon.log, errors="replace").read()
        self.daemon = None
        expect(code == 0, f"bearerd run ended with {code}:\n{log[-800:]}")
        expect("eyJ" not in log, "a JWT stands in the log of bearerd")
        secret = self.identity.get("client_secret")
        expect(not secret or secret not in log, "the client secret stands in the log of bearerd")

    def kill(self):
        """Ends the daemon if it has not ended."""
        if self.daemon:
            self.daemon.stop(patience=0)

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, error, trace):
        if kind is None:
            self.stop()
