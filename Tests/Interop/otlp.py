# SPDX-License-Identifier: Apache-2.0
"""What a collector gets of traces, taken apart by OpenTelemetry's own messages; needs no provider but the embedded one."""

import base64
import json
import os
import urllib.request

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from json_server import JSONServer
from sidecar import BINARY
from support import Process, expect, free_port, fresh_directory, wait_until, write

IDENTIFIERS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}
PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Collector(JSONServer):
    """Keeps the documents that it is sent."""

    def __init__(self):
        self.documents, self.paths = [], set()
        super().__init__(self._take)

    def _take(self, path, fields, body):
        expect(fields["content-type"] == "application/json", fields["content-type"])
        self.paths.add(path)
        # OTLP has identifiers in hexadecimal where protobuf's JSON has base64; an unknown member is an error.
        message = json_format.Parse(json.dumps(_with_base64(json.loads(body))), ExportTraceServiceRequest())
        self.documents.append(message)
        return {}

    def spans(self):
        return [span for document in self.documents for resource in document.resource_spans
                for scope in resource.scope_spans for span in scope.spans]


def _with_base64(value):
    if isinstance(value, list):
        return [_with_base64(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: _identifier(name, item) if name in IDENTIFIERS else _with_base64(item) for name, item in value.items()}


def _identifier(name, text):
    expect(text == text.lower() and len(text) == 2 * IDENTIFIERS[name], f"{name}: {text}")
    return base64.b64encode(bytes.fromhex(text)).decode()


def _ask(port, path, **headers):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read()


def check(home):
    """Runs bearerd before a collector and judges what that got."""
    directory = fresh_directory(os.path.join(home, "otlp"))
    collector = Collector()
    port, provider, api = free_port(), free_port(), free_port()
    config = os.path.join(directory, "config.yaml")
    write(config, json.dumps({
        "listen": f"127.0.0.1:{port}", "workers": 1, "store": {"type": "memory"},
        "development": {"provider": f"127.0.0.1:{provider}", "api": f"127.0.0.1:{api}"},
        "identities": {"default": {"issuer": f"http://127.0.0.1:{provider}", "client_id": "app", "client_secret": "s",
                                   "grant_type": "client_credentials"}},
        "routes": [{"path": "/", "upstream": f"http://127.0.0.1:{api}", "identity": "default"}],
        "telemetry": {"otlp_endpoint": f"http://127.0.0.1:{collector.server_address[1]}", "sample": 1},
    }))
    daemon = Process([BINARY, "run", "-c", config], os.path.join(directory, "log"),
                     env={**os.environ, "OTEL_SERVICE_NAME": "interop"})
    try:
        daemon.wait_until(lambda: b'"ready"' in open(daemon.log, "rb").read(), "bearerd")
        _ask(port, "/whoami?code=not-to-be-seen", traceparent=PARENT)
        _ask(port, "/whoami")
    finally:
        code = daemon.stop()
    expect(code == 0, f"bearerd ended with {code}: {daemon.tail()}")
    spans = wait_until(lambda: len(collector.spans()) >= 5 and collector.spans(), "five spans")
    expect(collector.paths == {"/v1/traces"}, collector.paths)
    attributes = {item.key: item.value.string_value
                  for item in collector.documents[0].resource_spans[0].resource.attributes}
    expect(attributes["service.name"] == "interop" and attributes["service.version"], attributes)
    servers = [span for span in spans if span.kind == Span.SPAN_KIND_SERVER]
    continued = [span for span in servers if span.trace_id.hex() == PARENT.split("-")[1]]
    expect(len(servers) == 2 and len(continued) == 1, f"{servers}")
    expect(continued[0].parent_span_id.hex() == PARENT.split("-")[2], f"{continued}")
    for server in servers:
        sends = [span for span in spans if span.parent_span_id == server.span_id]
        expect(len(sends) == 1 and sends[0].kind == Span.SPAN_KIND_CLIENT, f"{sends}")
        expect(server.start_time_unix_nano <= sends[0].start_time_unix_nano <= sends[0].end_time_unix_nano
               <= server.end_time_unix_nano, f"{server} {sends}")
        expect(server.status.code == Status.STATUS_CODE_UNSET, f"{server}")
    expect(any(span.name == "token request" for span in spans), f"{spans}")
    expect(not any("not-to-be-seen" in str(document) for document in collector.documents), "a query is in a span")
    collector.stop()
    print(f"otlp: {len(spans)} spans: ok", flush=True)
