# SPDX-License-Identifier: Apache-2.0
"""The image: what is in it, and that it works with no rights at all."""

import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile

from containers import USER, Containers
from testing import (BUILD, Daemon, Skipped, answers, binary, expect, fetch, output, pypi, run, version, wait_until, write)

LIMIT = 60 * 2**20
ROOT = os.path.join(BUILD, "image", "root")


@functools.cache
def containers():
    """The storage that has the image: made once."""
    made = Containers(tempfile.mkdtemp(prefix="bearerd-containers-"))
    made.make()
    return made


def clean():
    """Called when all tests are done."""
    if containers.cache_info().currsize:
        containers().clean()
        shutil.rmtree(containers().directory, ignore_errors=True)


def files():
    return sorted(os.path.relpath(os.path.join(folder, name), ROOT)
                  for folder, _, names in os.walk(ROOT) for name in names)


def test_it_is_small_and_has_nothing_that_could_run_but_bearerd():
    size = containers().inspect()["Size"]
    print(f"     image: {size / 2**20:.1f} MiB")
    expect(size <= LIMIT, f"{size / 2**20:.1f} MiB")
    programs = [name for name in files() if os.access(os.path.join(ROOT, name), os.X_OK) and ".so" not in name]
    expect(programs == ["usr/bin/bearerd"], f"programs: {programs}")
    expect("no symbols" in run("nm", os.path.join(ROOT, "usr/bin/bearerd")), "the binary is not stripped")
    for name in files():
        mode = os.lstat(os.path.join(ROOT, name)).st_mode
        expect(not mode & 0o6000 and (os.path.islink(os.path.join(ROOT, name)) or not mode & 0o022), f"{name}: {mode:o}")


def test_it_says_what_it_is():
    config = containers().inspect()["Config"]
    expect(config["User"] == f"{USER}:{USER}", config["User"])
    expect(config["Labels"]["org.opencontainers.image.version"] == version(), config["Labels"])
    health = containers().inspect()["HealthcheckConfig" if "HealthcheckConfig" in containers().inspect() else "Healthcheck"]
    expect(health["Test"] == ["CMD", "/usr/bin/bearerd", "healthcheck"], health)


def test_the_bill_of_materials_lists_what_is_there():
    path = os.path.join(ROOT, "usr/share/sbom/bearerd.spdx.json")
    bill = json.load(open(path))
    versions = {package["name"]: package["versionInfo"] for package in bill["packages"]}
    expect(versions["bearerd"] == version(), versions)
    digest = hashlib.sha256(open(os.path.join(ROOT, "usr/bin/bearerd"), "rb").read()).hexdigest()
    locators = [reference["referenceLocator"] for package in bill["packages"] for reference in package.get("externalRefs", [])]
    wrong = [it for it in locators if not re.fullmatch(r"pkg:deb/debian/[a-z0-9][a-z0-9+.-]*@[A-Za-z0-9.~%-]+\?arch=.*", it)]
    expect(locators and not wrong, f"no package URLs that scanners read: {wrong}")
    stated = next(package for package in bill["packages"] if package["name"] == "bearerd")["checksums"][0]
    expect(stated["checksumValue"] == digest, "another binary")
    for name in files():
        if ".so" in name and not os.path.islink(os.path.join(ROOT, name)):
            base = os.path.basename(name)
            found = output("dpkg-query", "--search", f"*/{base}").splitlines()
            owners = {line.split(": ")[0] for line in found}
            mine = owners & {package.split(":")[0] + suffix for package in versions
                             for suffix in ("", ":" + output("dpkg", "--print-architecture"))}
            expect(mine, f"{base} is of {owners}, which is not listed")
    for name, number in versions.items():
        if name not in ("bearerd", "swift-runtime"):
            expect(output("dpkg-query", "--show", "--showformat", "${Version}", name) == number, name)
            expect(os.path.exists(os.path.join(ROOT, "usr/share/doc", name.split(":")[0], "copyright")), f"no licence of {name}")


def test_the_bill_of_materials_is_spdx():
    tools = pypi("spdx-tools")
    run(os.path.join(tools, "pyspdxtools"), "--infile", os.path.join(ROOT, "usr/share/sbom/bearerd.spdx.json"))


def configured(directory, admin_key):
    """A configuration with a store in a volume and an admin listener on all addresses, as in a pod."""
    os.chmod(directory, 0o755)
    os.chmod(os.path.dirname(directory), 0o755)
    volume = os.path.join(directory, "volume")
    os.mkdir(volume)
    os.chown(volume, USER, USER)
    daemon = Daemon(directory, store={"type": "file"})
    key = write(os.path.join(directory, "admin-key"), admin_key, mode=0o400)
    os.chown(key, USER, USER)
    config = json.load(open(daemon.config))
    config["admin"] = {"listen": f"0.0.0.0:{daemon.admin}", "key_file": "/run/secrets/admin-key"}
    os.remove(daemon.config)
    write(daemon.config, json.dumps(config), mode=0o644)
    return daemon, ["--volume", f"{daemon.config}:/etc/bearerd/config.yaml:ro", "--volume", f"{volume}:/var/lib/bearerd",
                    "--volume", f"{key}:/run/secrets/admin-key:ro"]


def start_ready(here, name, directory):
    """Starts a container with a configuration of its own; returns its daemon and its volumes once it is ready."""
    daemon, volumes = configured(directory, "not-a-real-admin-key")
    here.start(name, *volumes)
    wait_until(daemon.is_ready, "the container is ready", 60)
    return daemon, volumes


def test_it_works_read_only_without_rights_and_keeps_its_session_in_a_volume(directory):
    here = containers()
    try:
        daemon, volumes = start_ready(here, "first", directory)
        status, claims = daemon.get("/whoami")
        expect(status == 200 and json.loads(claims), f"through the container: {status}")
        pid = here.must("inspect", "--format", "{{.State.Pid}}", "first").strip()
        process = dict(line.split(":\t") for line in open(f"/proc/{pid}/status").read().splitlines() if ":\t" in line)
        expect(process["Uid"].split() == [str(USER)] * 4, process["Uid"])
        expect(process["CapEff"] == process["CapBnd"] == "0" * 16, process["CapBnd"])
        expect((process["NoNewPrivs"], process["Seccomp"]) == ("1", "2"), "no seccomp, or new privileges")
        if sandboxed_outside(directory):
            expect('"sandboxed"' in here.logs("first"), f"no sandbox:\n{here.logs('first')}")
        else:
            print("     image: this kernel has no Landlock, so the sandbox was not looked at")
        told = json.loads(here.must("exec", "first", "/usr/bin/bearerd", "status", "--json"))
        expect(told["identities"][0]["state"] == "authorized" and "uptime_seconds" in told, f"status inside: {told}")
        outside, host = f"http://{own_address()}:{daemon.admin}", {"Host": f"127.0.0.1:{daemon.admin}"}
        expect(fetch(f"{outside}/healthz")[0] == 200, "a probe by address is refused")
        status, _ = fetch(f"{outside}/api/status", host)
        expect(status == 403, f"status from outside without the key: {status}")
        status, _ = fetch(f"{outside}/api/status", {**host, "Authorization": "Bearer not-a-real-admin-key"})
        expect(status == 200, f"status from outside with the key: {status}")
        expect(token_requests(daemon) > 0, "the first container asked for no token")
        here.must("kill", "--signal", "TERM", "first")
        expect(here.must("wait", "first").strip() == "0", f"no drain: {here.logs('first')[-500:]}")
        expect('"drained"' in here.logs("first"), "nothing said of a drain")
        expect("eyJ" not in here.logs("first"), "a token stands in the log")
        stored = [name for _, _, names in os.walk(os.path.join(directory, "volume")) for name in names]
        expect(stored, "nothing in the volume")
        here.start("second", *volumes)
        wait_until(daemon.is_ready, "the second container is ready", 60)
        # Before any request: the provider is as new as the container, and its API refuses the token of the one before.
        expect(token_requests(daemon) == 0, "the session was not kept: a token was asked for")
    finally:
        here.clean()


def token_requests(daemon):
    """How many a daemon has made since it began, of any outcome."""
    page = fetch(f"http://127.0.0.1:{daemon.admin}/metrics")[1]
    return sum(float(count) for count in re.findall(r"^bearerd_token_requests_total\{.*\} (\S+)$", page, re.M))


def expect_ownership():
    """Nobody but the program may write, and it only to its store, which a new volume is made like."""
    here = containers()
    root = here.must("image", "mount", here.image).strip().splitlines()[-1]
    try:
        for name, owner, mode in (("var/lib/bearerd", USER, 0o700), ("var/lib", 0, 0o755)):
            status = os.stat(os.path.join(root, name))
            found = (status.st_uid, status.st_gid, status.st_mode & 0o7777)
            expect(found == (owner, owner, mode), f"/{name} belongs to {found[0]}:{found[1]} with mode {found[2]:o}")
    finally:
        here.must("image", "unmount", here.image)


def test_its_store_belongs_to_the_program():
    expect_ownership()


def test_it_works_with_a_volume_of_a_pod(directory):
    here = containers()
    daemon, volumes = configured(directory, "not-a-real-admin-key")
    volume = os.path.join(directory, "volume")
    # What a kubelet makes of an emptyDir with `fsGroup`.
    os.chown(volume, 0, USER)
    os.chmod(volume, 0o2777)
    here.start("pod", *volumes)
    try:
        wait_until(daemon.is_ready, "the container is ready", 60)
        status = os.stat(os.path.join(volume, "bearerd"))
        expect((status.st_uid, status.st_mode & 0o1777) == (USER, 0o700), f"{status.st_uid}, {status.st_mode:o}")
        expect(os.listdir(os.path.join(volume, "bearerd")), "no session in the volume")
    finally:
        here.clean()


def test_it_probes_itself(directory):
    here = containers()
    try:
        start_ready(here, "probed", directory)
        here.must("exec", "probed", "/usr/bin/bearerd", "healthcheck", "--ready")
        here.must("healthcheck", "run", "probed")
    finally:
        here.clean()


def test_its_demo_serves_the_lines_that_it_prints():
    here = containers()
    here.start("demo", command=("demo",))
    try:
        url = wait_until(lambda: re.search(r"curl (?:\S+ )*'?(http://127\.0\.0\.1:\d+/whoami)", here.logs("demo")),
                         "a line to try", 60)[1]
        wait_until(lambda: answers(url), url, 30)
    finally:
        here.clean()


def test_without_a_configuration_it_says_what_is_missing():
    code, said = containers().podman("run", "--rm", "--network", "host", "--ulimit", "nofile=1024:1024",
                                     "--ulimit", "nproc=512:512", containers().image)
    expect(code == 78 and "config.yaml" in said, f"exit {code}: {said}")


def test_without_a_container_tool_there_is_the_same_image_as_a_file(directory):
    here = containers()
    archive = os.path.join(BUILD, "bearerd-image.tar")
    digests = []
    for _ in range(2):
        run("make", "--silent", "image", f"BINARY={binary()}", env=dict(here.environment, CONTAINER_TOOL="none"))
        digests.append(hashlib.sha256(open(archive, "rb").read()).hexdigest())
    expect(digests[0] == digests[1], "made twice, it differs")
    built = here.inspect()["Config"]
    here.must("load", "--input", archive)
    loaded = here.inspect()["Config"]
    different = {key: (built.get(key), loaded.get(key)) for key in {*built, *loaded} - {"Labels", "Env"}
                 if built.get(key) != loaded.get(key)}
    expect(not different, f"as a file it says otherwise: {different}")
    expect(set(loaded["Env"]) <= set(built["Env"]), f"{loaded['Env']} is not {built['Env']}")
    expect_ownership()
    expect(version() in here.must("run", "--rm", "--network", "host", "--ulimit", "nofile=1024:1024",
                                  "--ulimit", "nproc=512:512", here.image, "--version"), "it does not run")


def sandboxed_outside(directory):
    """Whether this kernel has Landlock for a daemon that is in no container."""
    outside = os.path.join(directory, "outside")
    os.mkdir(outside)
    with Daemon(outside) as daemon:
        return '"sandboxed"' in open(daemon.log).read()


def own_address():
    """An address of this machine that is not loopback, else loopback."""
    found = re.search(r"\bsrc (\S+)", subprocess.run(["ip", "route", "get", "192.0.2.1"], capture_output=True, text=True).stdout)
    if not found:
        raise Skipped("this machine has no address but loopback")
    return found[1]


def test_another_machine_s_image_needs_somebody_who_builds_there():
    done = subprocess.run(["make", "--silent", "image", f"BINARY={binary()}", "PLATFORM=linux/arm64"], capture_output=True, text=True)
    expect(done.returncode and "BUILDER=IMAGE" in done.stderr, f"exit {done.returncode}: {done.stderr}")
