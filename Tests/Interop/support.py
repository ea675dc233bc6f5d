# SPDX-License-Identifier: Apache-2.0
"""What every part of the interop tests needs: ports, processes, patience, certificates."""

import contextlib
import errno
import os
import shutil
import signal
import socket
import subprocess
import time


_given = set()


def free_port():
    """A port of loopback that nobody uses at the moment, and that was not given before: two in a row may be the same one."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port not in _given:
            _given.add(port)
            return port


@contextlib.contextmanager
def kept_port(port):
    """Keeps a port of loopback, on which nobody listens for a while, from being given to somebody else."""
    with socket.socket() as keeper:
        keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)

        def bound():
            try:
                keeper.bind(("127.0.0.1", port))
                return True
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
                return False

        # Who had it may have been killed, and still be on its way out.
        wait_until(bound, f"port {port} is free")
        yield


def expect(condition, otherwise):
    """Fails the check unless `condition` holds."""
    if not condition:
        raise AssertionError(otherwise() if callable(otherwise) else otherwise)


def wait_until(condition, what, seconds=20, pause=0.05):
    """Polls `condition` until it holds; returns what it returned."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        expect(time.monotonic() < deadline,
               lambda: f"{what() if callable(what) else what}: not within {seconds} s")
        time.sleep(pause)


class Process:
    """A server in a process group of its own, its output in a file."""

    def __init__(self, command, log, **options):
        self.log = log
        with open(log, "ab") as output:
            self.child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, **options)

    def wait_until(self, condition, what, seconds=60, pause=0.05):
        """Waits for `condition`, but not longer than the process lives."""
        def alive_and_ready():
            expect(self.child.poll() is None, lambda: f"{what} ended:\n{self.tail()}")
            return condition()
        wait_until(alive_and_ready, lambda: f"{what}: the end of its log:\n{self.tail()}\n{what}", seconds, pause)

    def tail(self, lines=15):
        with open(self.log, errors="replace") as file:
            return "".join(file.readlines()[-lines:])

    def stop(self, patience=20):
        """SIGTERM, and SIGKILL for what is left after `patience` seconds; returns the exit code."""
        if self.child.poll() is None:
            self.child.terminate()
            try:
                self.child.wait(patience)
            except subprocess.TimeoutExpired:
                os.killpg(self.child.pid, signal.SIGKILL)
        return self.child.wait()


def fresh_directory(path):
    """An empty directory at `path`, whatever was there."""
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path, mode=0o700)
    return path


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def make_certificate(directory):
    """A certificate for localhost and sso.example.test that is its own authority; returns its path and its key's."""
    certificate, key = os.path.join(directory, "tls.pem"), os.path.join(directory, "tls.key")
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost,DNS:sso.example.test", "-keyout", key, "-out", certificate)
    return certificate, key


def make_key(directory, name, algorithm):
    """A private key for signing with `algorithm` as PEM; returns the paths of the private and the public half."""
    private, public = os.path.join(directory, name + ".key"), os.path.join(directory, name + ".pub")
    options = {
        "RS256": ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"], "PS256": ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
        "ES256": ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"], "EdDSA": ["ED25519"],
    }[algorithm]
    openssl("genpkey", "-algorithm", *options, "-out", private)
    openssl("pkey", "-in", private, "-pubout", "-out", public)
    os.chmod(private, 0o600)
    return private, public


def read(path):
    with open(path) as file:
        return file.read()


def write(path, text, mode=0o600):
    """Writes a file that holds a secret."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as file:
        file.write(text)
    return path
