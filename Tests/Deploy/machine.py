# SPDX-License-Identifier: Apache-2.0
"""The package and its units on a fresh Debian with a real systemd: installed, used, upgraded, removed, purged."""

import functools
import json
import os
import re
import shutil
import subprocess
import tempfile

import debian
from booted import Booted
from testing import Daemon, expect, fetch, free_port, run, version, wait_until

SERVICE = "bearerd.service"


class Machine(Booted):
    """The booted machine with the package installed; the provider and the API are a daemon outside of it."""

    def __init__(self, directory):
        super().__init__(directory)
        self.outside = os.path.join(directory, "outside")
        os.mkdir(self.outside)
        self.development = Daemon(self.outside)
        self.development.__enter__()
        known = json.load(open(self.development.config))
        self.issuer = known["identities"]["default"]["issuer"]
        self.api = known["routes"][0]["upstream"]
        self.port, self.admin = free_port(), free_port()

    def configuration(self, **changes):
        """A whole configuration as JSON, which is YAML."""
        return json.dumps({
            "listen": f"127.0.0.1:{self.port}", "admin": {"listen": f"127.0.0.1:{self.admin}"}, "workers": 2,
            "identities": {"default": {
                "issuer": self.issuer, "client_id": "demo", "grant_type": "client_credentials",
                "client_secret_credential": "client_secret"}},
            "routes": [{"path": "/", "upstream": self.api, "identity": "default"}],
            "store": {"type": "file"}, **changes}, indent=1)

    def configure(self, **changes):
        self.write("/etc/bearerd/config.yaml", self.configuration(**changes))

    def status(self):
        return json.loads(fetch(f"http://127.0.0.1:{self.admin}/api/status")[1])

    def answers(self, path="/whoami", port=None):
        try:
            return fetch(f"http://127.0.0.1:{port or self.port}{path}")[0] == 200
        except OSError:
            return False

    def expect_no_token_request(self):
        """Since the daemon began it has served with the token that it found."""
        page = fetch(f"http://127.0.0.1:{self.admin}/metrics")[1]
        expect("bearerd_token_expiry_timestamp_seconds" in page, page[:500])
        expect(not re.search(r"^bearerd_token_requests_total\{.*\} [1-9]", page, re.M), "a token was asked for")

    def stop(self):
        super().stop()
        if hasattr(self, "development"):
            self.development.process.stop()


@functools.cache
def machine():
    return Machine(tempfile.mkdtemp(prefix="bearerd-machine-"))


def clean():
    """Called when all tests are done."""
    if machine.cache_info().currsize:
        machine().stop()
        shutil.rmtree(os.path.dirname(machine().root), ignore_errors=True)


def test_the_package_installs_and_starts_nothing():
    here = machine()
    shutil.copy(debian.make(), here.path("/var/tmp/bearerd.deb"))
    here.must("apt-get", "update", "--quiet")
    here.must("apt-get", "install", "--yes", "--no-install-recommends", "/var/tmp/bearerd.deb")
    expect(version() in here.must("bearerd", "--version"), "another version")
    here.must("getent", "passwd", "bearerd")
    expect(here.show(SERVICE, "ActiveState") == "inactive" and here.show(SERVICE, "UnitFileState") == "disabled",
           "it was started before anybody configured it")
    here.must("systemd-analyze", "verify", "--man=no", "bearerd.service", "bearerd@one.service", "bearerd.socket")


def test_a_wrong_configuration_is_not_tried_again_and_again():
    here = machine()
    here.write("/etc/bearerd/config.yaml", "listne: 127.0.0.1:8080\n")
    code, _ = here.run("systemctl", "start", SERVICE)
    expect(code != 0, "systemctl start says that it works")
    expect(here.show(SERVICE, "ActiveState") == "failed" and here.show(SERVICE, "ExecMainStatus") == "78",
           here.show(SERVICE, "ExecMainStatus"))
    expect(here.show(SERVICE, "NRestarts") == "0", "it was started again")
    expect("did you mean 'listen'" in here.journal(), here.journal())


def test_it_starts_with_a_secret_of_load_credential_and_works():
    here = machine()
    here.write("/etc/bearerd/client_secret", "demo\n", mode=0o600)
    here.drop_in(SERVICE, "[Service]\nLoadCredential=client_secret:/etc/bearerd/client_secret\n")
    here.configure()
    here.must("systemctl", "reset-failed", SERVICE)
    here.must("systemctl", "enable", "--now", SERVICE)
    expect(here.show(SERVICE, "ActiveState") == "active", "systemctl start came back before it was active")
    wait_until(here.answers, "a request through the service", 30)
    expect("authorized" in wait_until(lambda: here.show(SERVICE, "StatusText"), "a status for systemctl", 20),
           here.show(SERVICE, "StatusText"))
    expect('"sandboxed"' in here.journal() or '"no sandbox"' in open(here.development.log).read(), here.journal())
    expect("eyJ" not in here.journal(), "a token stands in the journal")
    found = here.must("find", "/var/lib/bearerd", "-printf", "%u %m %y\n").split("\n")
    expect({"bearerd 700 d", "bearerd 600 f"} == {line for line in found if line}, found)
    process = here.show(SERVICE, "MainPID")
    status = dict(line.split(":\t") for line in here.must("cat", f"/proc/{process}/status").splitlines() if ":\t" in line)
    expect(status["CapBnd"] == "0" * 16 and status["NoNewPrivs"] == "1" and status["Seccomp"] == "2", status)


def test_commands_beside_the_unit_find_its_session():
    here = machine()
    for command, word in ("check", "default"), ("status", "authorized"):
        text = here.must("env", "CREDENTIALS_DIRECTORY=/etc/bearerd", "bearerd", command)
        expect(word in text, f"{command}: {text}")


def test_the_audit_has_a_directory_that_can_be_written():
    here = machine()
    here.configure(audit={"file": "/var/log/bearerd/audit.log"})
    here.must("systemctl", "restart", SERVICE)
    wait_until(here.answers, "a request through the service", 30)
    wait_until(lambda: '"identity":"default"' in here.run("cat", "/var/log/bearerd/audit.log")[1], "a line of the audit", 10)
    here.must("mv", "/var/log/bearerd/audit.log", "/var/log/bearerd/audit.old")
    here.must("systemctl", "reload", SERVICE)
    expect(here.answers(), "no request after the reload")
    wait_until(lambda: '"identity":"default"' in here.run("cat", "/var/log/bearerd/audit.log")[1], "a line in the new file", 10)
    here.configure()
    here.must("systemctl", "restart", SERVICE)
    wait_until(here.answers, "a request through the service", 30)


def test_a_key_that_systemd_creds_has_sealed_encrypts_the_store():
    here, unit = machine(), "bearerd@sealed.service"
    here.must("sh", "-c", "openssl version >/dev/null 2>&1 || apt-get install --yes --no-install-recommends openssl")
    here.must("sh", "-c", "umask 077; openssl rand -hex 32 | systemd-creds encrypt --with-key=host --name=store_key - "
              "/etc/bearerd/store_key.cred")
    here.drop_in(unit, "[Service]\nLoadCredential=client_secret:/etc/bearerd/client_secret\n"
                 "LoadCredentialEncrypted=store_key:/etc/bearerd/store_key.cred\n")
    port, admin = free_port(), free_port()
    here.write("/etc/bearerd/sealed.yaml", here.configuration(
        listen=f"127.0.0.1:{port}", admin={"listen": f"127.0.0.1:{admin}"},
        store={"type": "file", "encryption_key_credential": "store_key"}))
    for _ in range(2):
        here.must("systemctl", "restart", unit)
        wait_until(lambda: here.answers(port=port), "a request through the service", 30)
    page = fetch(f"http://127.0.0.1:{admin}/metrics")[1]
    expect(not re.search(r"^bearerd_token_requests_total\{.*\} [1-9]", page, re.M), "the sealed session was not found again")
    here.must("test", "-e", "/var/lib/bearerd/sealed/encrypted")
    code, _ = here.run("sh", "-c", "grep -rl eyJ /var/lib/bearerd/sealed")
    expect(code == 1, "a token stands there in plain text")
    here.must("systemctl", "stop", unit)


def test_a_reload_keeps_the_process_and_takes_what_is_new():
    here = machine()
    process = here.show(SERVICE, "MainPID")
    expect(not here.answers("/new/whoami"), "the new route is there before the reload")
    here.configure(routes=[{"path": "/", "upstream": here.api, "identity": "default"},
                           {"path": "/new", "strip_prefix": True, "upstream": here.api, "identity": "default"}])
    here.must("systemctl", "reload", SERVICE)
    expect(here.show(SERVICE, "MainPID") == process and here.answers(), "the reload ended it")
    wait_until(lambda: here.answers("/new/whoami"), "the configuration that was reloaded is in force", 10)
    here.configure(routes=[])
    code, _ = here.run("systemctl", "reload", SERVICE)
    expect(code != 0, "a reload that is refused succeeds")
    expect(here.show(SERVICE, "MainPID") == process and here.answers("/new/whoami"), "the configuration before it is gone")
    expect("routes: there are none" in here.must("journalctl", "-u", SERVICE), "the journal has no reason")
    here.configure()
    here.must("systemctl", "reload", SERVICE)


def test_the_watchdog_starts_a_process_anew_that_stands_still():
    here = machine()
    here.drop_in(SERVICE, "[Service]\nLoadCredential=client_secret:/etc/bearerd/client_secret\n"
                          "WatchdogSec=2\nTimeoutAbortSec=1\n")
    here.must("systemctl", "restart", SERVICE)
    wait_until(here.answers, "a request through the service", 30)
    before = here.show(SERVICE, "NRestarts")
    here.must("sh", "-c", f"kill -STOP {here.show(SERVICE, 'MainPID')}")
    wait_until(lambda: here.show(SERVICE, "NRestarts") != before and here.answers(), "the service that stood still", 60)


def test_it_keeps_its_session_when_it_is_started_anew():
    here = machine()
    here.must("systemctl", "restart", SERVICE)
    wait_until(here.answers, "a request through the service", 30)
    here.expect_no_token_request()


def test_the_sandbox_lets_sockets_certificates_and_tls_work():
    here = machine()
    secure = free_port()
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x",
        "-addext", "subjectAltName=DNS:localhost", "-keyout", f"{here.outside}/tls.key", "-out", f"{here.outside}/tls.pem")
    here.write("/etc/bearerd/tls.pem", open(f"{here.outside}/tls.pem").read())
    here.write("/etc/bearerd/tls.key", open(f"{here.outside}/tls.key").read(), mode=0o640)
    here.must("chgrp", "bearerd", "/etc/bearerd/tls.key")
    # Two instances of the template stand for an API behind a Unix socket and one behind TLS.
    for name, listeners, more in (
            ("socket", "unix:/run/bearerd-socket/socket", {}),
            ("tls", f"127.0.0.1:{secure}", {"tls": {
                "certificate_file": "/etc/bearerd/tls.pem", "key_file": "/etc/bearerd/tls.key"}})):
        here.write(f"/etc/bearerd/{name}.yaml", here.configuration(
            listen=listeners, admin={"listen": f"127.0.0.1:{free_port()}"},
            routes=[{"path": "/", "upstream": here.api, "identity": "none"}], identities={}, **more))
        here.must("systemctl", "start", f"bearerd@{name}.service")
    here.configure(routes=[
        {"path": "/", "upstream": here.api, "identity": "default"},
        {"path": "/socket", "strip_prefix": True, "upstream": "http+unix:/run/bearerd-socket/socket",
         "identity": "default"},
        {"path": "/tls", "strip_prefix": True, "upstream": f"https://localhost:{secure}", "identity": "default",
         "ca_file": "/etc/bearerd/tls.pem"}])
    here.must("systemctl", "restart", SERVICE)
    for path in ("/whoami", "/socket/whoami", "/tls/whoami"):
        wait_until(lambda: here.answers(path), f"{path}: {here.journal()[-1500:]}", 20)
    for name in ("socket", "tls"):
        here.must("test", "-d", f"/var/lib/bearerd/{name}")
        here.must("systemctl", "stop", f"bearerd@{name}.service")
        expect('"drained"' in here.journal(f"bearerd@{name}"), here.journal(f"bearerd@{name}"))
    here.must("systemctl", "is-active", SERVICE)
    here.must("test", "-d", "/run/bearerd")


def listen_by_socket_unit(here):
    """Has the stopped service get its socket from its unit; returns the port."""
    port = free_port()
    here.must("systemctl", "stop", SERVICE)
    here.drop_in("bearerd.socket", f"[Socket]\nListenStream=\nListenStream=127.0.0.1:{port}\n")
    here.configure(listen="systemd:bearerd")
    return port


def test_a_socket_unit_opens_the_port_and_loses_nobody():
    here = machine()
    port = listen_by_socket_unit(here)
    here.must("systemctl", "start", "bearerd.socket")
    expect(here.show(SERVICE, "ActiveState") == "inactive", "the service runs before anybody came")
    expect(here.answers(port=port), f"the first client was not served\n{here.journal()[-2000:]}")
    expect(here.show(SERVICE, "ActiveState") == "active", "the service does not run")
    clients = subprocess.Popen(
        ["bash", "-c", f"for i in $(seq 40); do curl --silent --fail --output /dev/null http://127.0.0.1:{port}/whoami"
                       " || exit 1; done"])
    here.must("systemctl", "restart", SERVICE)
    expect(clients.wait(120) == 0, "a client was refused while the service was started anew")
    here.must("systemctl", "stop", "bearerd.socket", SERVICE)
    here.configure()
    here.must("systemctl", "start", SERVICE)


def newer_package(here):
    """The package again, with a higher version."""
    newer = os.path.join(here.outside, "newer")
    run("dpkg-deb", "--raw-extract", debian.package(), newer)
    control = os.path.join(newer, "DEBIAN", "control")
    text = open(control).read()
    with open(control, "w") as file:
        file.write(text.replace(f"Version: {version()}", f"Version: {version()}+next"))
    run("dpkg-deb", "--root-owner-group", "-Zgzip", "--build", newer, here.path("/var/tmp/newer.deb"))


def test_an_upgrade_keeps_the_session_the_configuration_and_the_clients():
    here = machine()
    port = listen_by_socket_unit(here)
    here.write("/etc/bearerd/two.yaml", here.configuration(
        listen="unix:/run/bearerd-two/socket", admin={"listen": f"127.0.0.1:{free_port()}"},
        routes=[{"path": "/", "upstream": here.api, "identity": "none"}], identities={}))
    here.must("systemctl", "start", "bearerd.socket", SERVICE)
    here.must("systemctl", "enable", "--now", "bearerd@two.service")
    expect(here.answers(port=port), "no request before the upgrade")
    processes = [here.show(unit, "MainPID") for unit in (SERVICE, "bearerd@two.service")]
    configured = open(here.path("/etc/bearerd/config.yaml")).read()
    newer_package(here)
    stopping = os.path.join(here.outside, "upgraded")
    clients = subprocess.Popen(
        ["bash", "-c", f"until [ -e {stopping} ]; do curl --silent --show-error --fail --output /dev/null"
                       f" http://127.0.0.1:{port}/whoami || exit 1; done"])
    try:
        here.must("dpkg", "--install", "/var/tmp/newer.deb")
        expect(here.answers(port=port), "no request after the upgrade")
    finally:
        open(stopping, "w").close()
    expect(clients.wait(60) == 0, "a client was refused during the upgrade")
    for unit, process in zip((SERVICE, "bearerd@two.service"), processes):
        expect(here.show(unit, "ActiveState") == "active", f"{unit} does not run any more")
        expect(here.show(unit, "MainPID") != process, f"{unit}: the old program runs on")
    expect(open(here.path("/etc/bearerd/config.yaml")).read() == configured, "the configuration was replaced")
    here.expect_no_token_request()


def test_removing_it_ends_it_and_purging_leaves_nothing():
    here = machine()
    process = here.show(SERVICE, "MainPID")
    here.must("apt-get", "remove", "--yes", "bearerd")
    expect(here.run("test", "-d", f"/proc/{process}")[0] == 1, "it runs on")
    expect(here.run("systemctl", "is-active", "bearerd@two.service")[0] != 0, "an instance runs on")
    here.must("test", "-f", "/etc/bearerd/config.yaml")
    here.must("test", "-d", "/var/lib/bearerd")
    here.must("apt-get", "purge", "--yes", "bearerd")
    left = here.run("find", "/etc/bearerd", "/var/lib/bearerd", "/var/log/bearerd", "/usr/bin/bearerd", "/lib/systemd/system/bearerd.service")[1]
    expect(all("No such file" in line for line in left.splitlines()), left)
    links = here.must("find", "/etc/systemd/system", "-name", "bearerd*.service")
    expect(not links.strip(), f"links to units that are gone: {links}")
