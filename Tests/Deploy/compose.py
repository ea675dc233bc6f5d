# SPDX-License-Identifier: Apache-2.0
"""compose.yaml: its services, started as the file says, one after the other where its conditions say so.

Containers have no network of their own here: the services' names lead to loopback, and Keycloak is a distribution.
"""

import json
import os
import re
import shlex
import shutil
import subprocess

from containers import USER, Containers
from testing import Process, Skipped, answers, expect, fetch, free_port, importable, need, version, wait_until

FILE = "deploy/compose.yaml"


def variables():
    """.env, with ports that are free here."""
    pairs = dict(line.split("=", 1) for line in open("deploy/.env").read().splitlines()
                 if line and not line.startswith("#"))
    return {**pairs, **{name: str(free_port()) for name in pairs if name.endswith("_PORT")}}




def services(values):
    """The file with `values` put in."""
    text = open(FILE).read()
    unknown = set(re.findall(r"\$\{(\w+)\}", text)) - values.keys()
    expect(not unknown, f".env has no {unknown}")
    importable("PyYAML")
    import yaml

    def filled(node):
        if isinstance(node, dict):
            return {key: filled(value) for key, value in node.items()}
        if isinstance(node, list):
            return [filled(value) for value in node]
        return re.sub(r"\$\{(\w+)\}", lambda found: values[found[1]], node) if isinstance(node, str) else node

    return filled(yaml.safe_load(text))["services"]


def test_ports_are_published_on_loopback_alone():
    for name, service in services(variables()).items():
        for port in service.get("ports", []):
            expect(port.startswith("127.0.0.1:"), f"{name}: {port}")


def test_the_image_is_the_one_that_make_image_makes():
    expect(variables()["BEARERD_IMAGE"] == f"bearerd:{version()}", variables()["BEARERD_IMAGE"])


def test_docker_compose_takes_it():
    command = ["docker", "compose"]
    if subprocess.run(["sh", "-c", "docker compose version"], capture_output=True).returncode:
        need("docker-compose")
        command = ["docker-compose", "--env-file", "deploy/.env"]
    done = subprocess.run([*command, "--file", FILE, "config", "--quiet"], capture_output=True, text=True)
    expect(done.returncode == 0 and not done.stderr, done.stderr)


def keycloak(service, directory):
    """Keycloak with the service's environment, command and realm; its distribution may have been built once and for all."""
    importable("PyJWT")
    from providers.keycloak import Keycloak
    if reason := Keycloak.why_not():
        raise Skipped(reason)
    provider = Keycloak(os.path.join(directory, "keycloak"))
    home = provider.private_home(os.environ["KEYCLOAK_HOME"])
    for volume in service["volumes"]:
        source, target, _ = volume.split(":")
        shutil.copy(os.path.join("deploy", source), target.replace("/opt/keycloak", home))
    command = service["command"]
    if not os.path.exists(os.path.join(home, "lib", "lib", "deployment")):
        command = ["start", "--optimized", *command[1:]]
    environment = {**os.environ, **service["environment"], "KC_HTTP_HOST": "127.0.0.1", "KC_CACHE": "local",
                   "KC_HTTP_MANAGEMENT_PORT": str(free_port()), "JAVA_OPTS_KC_HEAP": "-Xms64m -Xmx512m"}
    environment.pop("KEYCLOAK_HOME")
    return Process([os.path.join(home, "bin", "kc.sh"), *command], os.path.join(directory, "keycloak.log"),
                   env=environment, cwd=home)


def is_healthy(service):
    """What the service's own check says."""
    test = service["healthcheck"]["test"]
    expect(test[0] == "CMD", test)
    return subprocess.run(test[1:], capture_output=True).returncode == 0


def bearerd(here, service, directory):
    """The container with all that the file says of it."""
    known = {"image", "command", "depends_on", "environment", "ports", "volumes", "read_only", "cap_drop", "security_opt",
             "stop_grace_period"}
    expect(service.keys() == known, f"what compose.yaml says of bearerd and this test does not do: {service.keys() ^ known}")
    expect(service["read_only"] and service["cap_drop"] == ["ALL"]
           and service["security_opt"] == ["no-new-privileges:true"], "it has more rights than it needs")
    options = [option for pair in service["environment"].items() for option in ("--env", "=".join(pair))]
    for volume in service["volumes"]:
        source, rest = volume.split(":", 1)
        if source.startswith("./"):
            source = shutil.copy(os.path.join("deploy", source), os.path.join(directory, os.path.basename(source)))
            os.chmod(source, 0o644)
        else:  # a named volume is made as the image's directory is
            source = os.path.join(directory, source)
            os.makedirs(source, mode=0o700, exist_ok=True)
            os.chown(source, USER, USER)
        options += ["--volume", f"{source}:{rest}"]
    here.start("bearerd", "--add-host", "keycloak:127.0.0.1", "--stop-timeout",
               service["stop_grace_period"].removesuffix("s"), *options, command=service["command"])


def login(here, directory, values):
    """Alice logs in, in a browser outside of the container; returns what the command said."""
    from browser import Browser
    log = os.path.join(directory, "login.log")
    command = Process(["podman", "--cgroup-manager=cgroupfs", "--runtime", "runc", "exec", "bearerd", "/usr/bin/bearerd",
                       "login", "person", "--no-browser"], log, env=here.environment)
    try:
        url = wait_until(lambda: next((word for word in open(log).read().split() if word.startswith("http")
                                       and "client_id=" in word), None), "the address that login prints", 40)
        browser = Browser()
        redirect = browser.walk(url, "alice", "not-a-real-password", until="http://127.0.0.1:")
        expect(isinstance(redirect, str) and redirect.startswith(f"http://127.0.0.1:{values['LOGIN_PORT']}/callback?"),
               f"Keycloak leads to {redirect}")
        page = browser.request("GET", redirect)
        expect(page.status == 200, f"the callback answers {page.status}: {page.text[:300]}")
        expect(command.child.wait(40) == 0, open(log).read())
    finally:
        command.stop()


def test_its_services_work_together(directory):
    values = variables()
    chosen = services(values)
    os.chmod(directory, 0o755)
    os.chmod(os.path.dirname(directory), 0o755)
    provider = keycloak(chosen["keycloak"], directory)
    with_image = Containers(os.path.join(directory, "containers"))
    try:
        with with_image as here:
            here.make()
            provider.wait_until(lambda: is_healthy(chosen["keycloak"]), "Keycloak is healthy", seconds=240)
            bearerd(here, chosen["bearerd"], directory)
            wait_until(lambda: here.podman("healthcheck", "run", "bearerd")[0] == 0, "bearerd is healthy", 60, 1)
            client = chosen["legacy-client"]["command"]
            said = subprocess.run([*client, "--resolve", f"bearerd:{values['PROXY_PORT']}:127.0.0.1"], capture_output=True,
                                  text=True, timeout=120)
            expect(said.returncode == 0, f"{shlex.join(client)}: exit {said.returncode}: {said.stdout}{said.stderr}\n"
                   f"{here.logs('bearerd')[-2000:]}")
            expect(json.loads(said.stdout)["preferred_username"] == "service-account-legacy-app", said.stdout)

            proxy = f"http://127.0.0.1:{values['PROXY_PORT']}"
            status, text = fetch(f"{proxy}/me/userinfo")
            expect(status == 503 and json.loads(text)["code"] == "login_required", f"before a login: {status} {text}")
            login(here, directory, values)
            wait_until(lambda: fetch(f"{proxy}/me/userinfo")[0] == 200, "the daemon uses the new login", 15)
            expect(json.loads(fetch(f"{proxy}/me/userinfo")[1])["preferred_username"] == "alice", "somebody else")
            here.must("exec", "bearerd", "/usr/bin/bearerd", "wait", "--ready", "--timeout", "20s")

            here.must("stop", "bearerd")
            expect("eyJ" not in here.logs("bearerd"), "a token stands in the log")
            here.must("rm", "bearerd")
            bearerd(here, chosen["bearerd"], directory)
            wait_until(lambda: answers(f"{proxy}/me/userinfo"), "the session in the volume", 60)
    finally:
        provider.stop()
