# SPDX-License-Identifier: Apache-2.0
"""Health checks of gRPC (grpc.health.v1) by grpcio, answered by the sample API of `bearerd demo`."""

import os
import re
import subprocess
import sys

import grpc


PAGE = os.path.join("docs", "grpc.md")


def check_page(proxy, binary, home):
    """Runs the client of the page on gRPC, and has its configuration checked."""
    with open(PAGE) as file:
        text = file.read()
    client = re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1).replace("127.0.0.1:8080", proxy)
    said = subprocess.run([sys.executable, "-c", client], capture_output=True, text=True, timeout=60)
    assert said.stdout == "b'\\x08\\x01'\n", said
    secret, config = os.path.join(home, "secret"), os.path.join(home, "page.yaml")
    settings = re.search(r"```yaml\n(.*?)```", text, re.DOTALL).group(1).replace("/run/secrets/client_secret", secret)
    for path, content in ((secret, "not-a-real-secret"), (config, settings)):
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(content)
    checked = subprocess.run([binary, "check", "-c", config], capture_output=True, text=True, timeout=60)
    assert checked.returncode == 0 and "(HTTP/2)" in checked.stdout, checked


def check_health(modules, home):
    """Asks through the proxy, where there is a token, and the API itself, where there is none."""
    messages, stubs = modules["health"]
    binary = os.environ.get("BEARERD", ".build/debug/bearerd")
    demo = subprocess.Popen([binary, "demo"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        text = ""
        while "status page" not in text:
            line = demo.stdout.readline()
            assert line, "demo says nothing"
            text += line
        proxy = re.search(r"@- http://(\S+)/grpc.health.v1.Health/Check", text).group(1)
        api = re.search(r"The API without bearerd, 401:\s+curl http://(\S+)/whoami", text).group(1)
        stub = stubs.HealthStub(grpc.insecure_channel(proxy))
        serving = messages.HealthCheckResponse.SERVING
        for service in ("", "grpc.health.v1.Health"):
            request = messages.HealthCheckRequest(service=service)
            assert stub.Check(request, timeout=30, wait_for_ready=True).status == serving
        check_page(proxy, binary, home)
        watch = stub.Watch(messages.HealthCheckRequest(), timeout=30)
        assert next(watch).status == serving
        watch.cancel()
        unknown = stub.Watch(messages.HealthCheckRequest(service="shop.Orders"), timeout=30)
        assert next(unknown).status == messages.HealthCheckResponse.SERVICE_UNKNOWN
        unknown.cancel()
        for address, service, code in ((proxy, "shop.Orders", grpc.StatusCode.NOT_FOUND),
                                       (api, "", grpc.StatusCode.UNAUTHENTICATED)):
            try:
                stubs.HealthStub(grpc.insecure_channel(address)).Check(
                    messages.HealthCheckRequest(service=service), timeout=30)
                raise AssertionError(f"{address} has answered")
            except grpc.RpcError as error:
                assert error.code() == code, error
    finally:
        demo.terminate()
        assert demo.wait(30) == 0, "demo does not end in order"
    return 7
