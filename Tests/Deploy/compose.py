# SPDX-License-Identifier: Apache-2.0
"""compose.yaml: its services, started as the file says, one after the other where its conditions say so; compose.redis.yaml: its
Redis and its configuration of bearerd, as processes.

Containers have no network of their own here: the services' names lead to loopback, and Keycloak is a distribution.
"""

import json
import os
import re
import shlex
import shutil
import subprocess

from containers import USER, Containers
from testing import (Process, Skipped, answers, binary, expect, fetch, free_port, importable, need, version, wait_until,
                     write)

FILE = "deploy/compose.yaml"
WITH_REDIS = "deploy/compose.redis.yaml"


def variables():
    """.env, with ports that are free here."""
    pairs = dict(line.split("=", 1) for line in open("deploy/.env").read().splitlines()
                 if line and not line.startswith("#"))
    return {**pairs, **{name: str(free_port()) for name in pairs if name.endswith("_PORT")}}




def filled_in(file, values):
    """A file with `values` put in."""
    text = open(file).read()
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

    return filled(yaml.safe_load(text))


def services(values):
    return filled_in(FILE, values)["services"]


def test_ports_are_published_on_loopback_alone():
    values = variables()
    for name, service in [*services(values).items(), *filled_in(WITH_REDIS, values)["services"].items()]:
        for port in service.get("ports", []):
            expect(port.startswith("127.0.0.1:"), f"{name}: {port}")


def test_the_image_is_the_one_that_make_image_makes():
    expect(variables()["BEARERD_IMAGE"] == f"bearerd:{version()}", variables()["BEARERD_IMAGE"])


def test_docker_compose_takes_it():
    command = ["docker", "compose"]
    if subprocess.run(["sh", "-c", "docker compose version"], capture_output=True).returncode:
        need("docker-compose")
        command = ["docker-compose", "--env-file", "deploy/.env"]
    for files in (["--file", FILE], ["--file", FILE, "--file", WITH_REDIS]):
        done = subprocess.run([*command, *files, "config", "--quiet"], capture_output=True, text=True)
        expect(done.returncode == 0 and not done.stderr, done.stderr)


def keycloak(service, directory):
    """Keycloak with the service's environment, command and realm; its distribution may have been built once and for all."""
    importable("PyJWT")
    from providers.keycloak import JAVA_OPTIONS, Keycloak
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
                   "KC_HTTP_MANAGEMENT_PORT": str(free_port()), "JAVA_OPTS_KC_HEAP": JAVA_OPTIONS}
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
            provider.wait_until(lambda: is_healthy(chosen["keycloak"]), "Keycloak is healthy", seconds=900, pause=1)
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


def shared(directory):
    """What compose.redis.yaml mounts, laid out below `directory`; returns the paths in containers and where they are."""
    chosen = filled_in(WITH_REDIS, variables())
    places = {f"/run/secrets/{name}": f"deploy/{secret['file']}" for name, secret in chosen["secrets"].items()}
    for service in chosen["services"].values():
        expect(set(service.get("secrets", [])) <= chosen["secrets"].keys(), service.get("secrets"))
        for volume in service["volumes"]:
            source, target = volume.split(":")[:2]
            expect(source.startswith("./") or source in chosen["volumes"], f"{source} is no volume")
            places[target] = f"deploy/{source}" if source.startswith("./") else None
    for target, source in places.items():
        place = directory + target
        os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
        if source is None:
            os.makedirs(place, mode=0o700, exist_ok=True)
        else:
            shutil.copy(source, place)
            os.chmod(place, 0o600)
    for name in ("/etc/redis/redis.conf", "/etc/bearerd/config.yaml"):
        text = open(directory + name).read()
        write(directory + name, re.sub(r"([ :])(/(?:run|data)\b)", rf"\g<1>{directory}\g<2>", text), mode=0o600)
    return chosen["services"]


def test_daemons_share_a_session_in_its_redis_with_no_more_rights_than_they_need(directory):
    need("redis-server")
    there = shared(directory)
    for name in ("redis", "second"):
        expect(there[name]["read_only"] and there[name]["cap_drop"] == ["ALL"]
               and there[name]["security_opt"] == ["no-new-privileges:true"], f"{name} has more rights than it needs")
    expect(there["redis"]["network_mode"] == "none", "Redis is on a network")
    expect(there["bearerd"]["secrets"] == there["second"]["secrets"], "the daemons have different keys")
    inside = {part: part.replace("/etc/redis", f"{directory}/etc/redis").replace("/run/redis", f"{directory}/run/redis")
              for service in there.values() for part in [*service.get("command", []), *service.get("healthcheck", {}).get("test", [])]}
    redis = Process([inside[part] for part in there["redis"]["command"]], os.path.join(directory, "redis.log"))
    try:
        check = [inside[part] for part in there["redis"]["healthcheck"]["test"]]
        redis.wait_until(lambda: subprocess.run(check[1:], capture_output=True).returncode == 0, "Redis is healthy")

        def command(*words):
            done = subprocess.run([binary(), *words, "-c", f"{directory}/etc/bearerd/config.yaml"], capture_output=True,
                                  text=True, env={**os.environ, **there["second"]["environment"]}, timeout=60)
            expect(done.returncode == 0, f"{words}: exit {done.returncode}: {done.stdout}{done.stderr}")
            return done.stdout + done.stderr

        said = command("check")
        expect("redis.sock, encrypted" in said and "warning: store" not in said, said)
        expect("sessions can be read and written" in command("doctor", "--check", "store"), "doctor has doubts")
        token = write(os.path.join(directory, "token"), "a-refresh-token\n", mode=0o600)
        command("import", "person", "--refresh-token", token)
        states = {identity["name"]: identity for identity in json.loads(command("status", "--json"))["identities"]}
        expect(states["person"]["generation"] == 1, states["person"])
        kept = b"".join(open(os.path.join(root, name), "rb").read()
                        for root, _, names in os.walk(f"{directory}/data") for name in names)
        expect(b"bearerd:session:person" in kept and b"a-refresh-token" not in kept, "Redis has no session, or a token")
    finally:
        redis.stop()


def test_both_configurations_differ_in_the_store_and_the_callers_alone():
    importable("PyYAML")
    import yaml
    alone, fleet = (yaml.safe_load(open(f"deploy/compose/{name}")) for name in ("bearerd.yaml", "bearerd.redis.yaml"))
    fleet["store"], fleet["access"] = alone["store"], alone["access"]
    expect(alone == fleet, "they have come apart")


def test_the_rights_at_redis_are_those_that_are_documented():
    documented = re.search(r"^ACL SETUSER bearerd on >PASSWORD (.+)$", open("docs/operations.md").read(), re.M)[1].split()
    given = re.search(r"^user default on #[0-9a-f]{64} (.+)$", open("deploy/compose/redis.conf").read(), re.M)[1].split()
    expect(set(given) == {*documented, "-@all"} - {"+select"}, given)
    manifests = open("deploy/kubernetes/overlays/redis/kustomization.yaml").read()
    expect(set(documented) <= set(manifests.split()), "the overlay for Kubernetes names other rights")
