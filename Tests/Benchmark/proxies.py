# SPDX-License-Identifier: Apache-2.0
"""The proxies: one worker on one core each, the same token, an access log to a file or none."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass

from processes import PROXY_CORE, Process, free_port


@dataclass(frozen=True)
class Target:
    """A kind of listener with what is behind it. An address is 127.0.0.1:PORT or unix:PATH."""

    listen: str
    upstream: str
    # The CAs that the upstream is verified with, if it speaks TLS.
    ca: str | None = None
    # Whether the upstream is spoken to in HTTP/2, without TLS.
    http2: bool = False


class Proxy:
    """One proxy with a listener for each kind of upstream."""

    # The kinds of upstreams that it has; empty for all.
    served = ()

    def __init__(self, directory, upstream, endpoint, logs, routes=0):
        """`routes` is how many stand beside the one for all paths of the plain target, `/routes/0000` and so on."""
        self.directory = directory
        self.upstream = upstream
        self.endpoint = endpoint
        self.logs = logs
        self.routes = [f"/routes/{number:04}" for number in range(routes)]
        self.targets = {
            "plain": Target(f"127.0.0.1:{free_port()}", f"127.0.0.1:{upstream.plain}"),
            "tls": Target(f"127.0.0.1:{free_port()}", f"127.0.0.1:{upstream.tls}", upstream.ca),
            "tls-bundle": Target(f"127.0.0.1:{free_port()}", f"127.0.0.1:{upstream.tls_close}", upstream.bundle),
            "unix": Target(self.socket("client"), f"127.0.0.1:{upstream.plain}"),
            "unix-both": Target(self.socket("both"), upstream.socket),
            "streams": Target(f"127.0.0.1:{free_port()}", f"127.0.0.1:{upstream.streams}"),
            **self.own_targets(),
        }
        if self.served:
            self.targets = {name: self.targets[name] for name in self.served}
        # It listens in this order.
        last = self.targets["dpop"] if "dpop" in self.targets else next(iter(self.targets.values()))
        port = int(last.listen.rpartition(":")[2])
        self.process = Process(self.name, self.command(), PROXY_CORE, directory, port)

    def own_targets(self):
        """What no other proxy can do."""
        return {}

    def http2_target(self):
        """For those that speak HTTP/2 to upstreams."""
        return {"h2": Target(f"127.0.0.1:{free_port()}", f"127.0.0.1:{self.upstream.http2}", http2=True)}

    def socket(self, suffix):
        return f"unix:{self.directory}/{self.name}-{suffix}.socket"

    def write(self, suffix, text):
        path = os.path.join(self.directory, self.name + suffix)
        with open(path, "w") as file:
            file.write(text)
        return path

    def stop(self):
        self.process.stop()


class Floor(Proxy):
    """The least a proxy can do, see floor.c. It knows no TLS and writes no log."""

    name = "floor"

    def command(self):
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "floor.c")
        binary = os.path.join(self.directory, "floor")
        subprocess.run([shutil.which("clang") or "cc", "-O2", "-o", binary, source], check=True)
        plain = [target for target in self.targets.values() if not target.ca]
        return [binary, self.endpoint.token, *(address for target in plain for address in (target.listen, target.upstream))]


class Nginx(Proxy):
    name = "nginx"

    def command(self):
        servers = ""
        for name, target in self.targets.items():
            verify = f"""
      proxy_ssl_trusted_certificate {target.ca}; proxy_ssl_verify on; proxy_ssl_verify_depth 3;
      proxy_ssl_protocols TLSv1.2 TLSv1.3; proxy_ssl_name localhost; proxy_ssl_server_name on;""" if target.ca else ""
            locations = ["/", *(self.routes if name == "plain" else ())]
            servers += f"""
  upstream {name} {{ server {target.upstream}; keepalive 512; keepalive_requests 1000000000; keepalive_time 1h; }}
  server {{
    listen {target.listen} backlog=4096;
    keepalive_requests 1000000000;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host localhost;
    proxy_set_header Authorization "Bearer {self.endpoint.token}";
    proxy_max_temp_file_size 0;{verify}
    {"proxy_buffering off;" if name == "streams" else ""}
    {" ".join(f"location {path} {{ proxy_pass {'https' if target.ca else 'http'}://{name}; }}" for path in locations)}
  }}"""
        log = "access_log nginx-access.log;" if self.logs else "access_log off;"
        config = self.write(".conf", f"""
worker_processes 1; daemon off; master_process off; pid nginx.pid;
events {{ worker_connections 4096; }}
http {{
  {log}
  client_body_temp_path tmp-n1; proxy_temp_path tmp-n2; fastcgi_temp_path tmp-n3; uwsgi_temp_path tmp-n4;
  scgi_temp_path tmp-n5;
  {servers}
}}
""")
        return ["nginx", "-e", "stderr", "-p", self.directory, "-c", config]


class Haproxy(Proxy):
    name = "haproxy"

    def command(self):
        sections = ""
        for name, target in self.targets.items():
            listen, upstream = (
                address.replace("unix:", "unix@") for address in (target.listen, target.upstream))
            tls = f" ssl verify required ca-file {target.ca} sni str(localhost) verifyhost localhost"
            sections += f"""
listen {name}
  bind {listen} backlog 4096
  http-request set-header Authorization "Bearer {self.endpoint.token}"
  http-reuse always
  server upstream {upstream}{tls if target.ca else ""}
"""
        config = self.write(".conf", f"""
global
  nbthread 1
  maxconn 4096
  tune.bufsize 32768
{"  log stdout format raw local0" if self.logs else ""}
defaults
  mode http
  {"log global" if self.logs else ""}
  {"option httplog" if self.logs else ""}
  timeout connect 60s
  timeout client 60s
  timeout server 60s
{sections}""")
        return ["haproxy", "-db", "-f", config]


class Nghttpx(Proxy):
    """Speaks HTTP/2 and HTTP/1.1 to clients, and one of them to upstreams: which it chooses by the path alone, so that each
    kind of upstream has a process of its own."""

    name = "nghttpx"
    served = ("plain",)

    def own_targets(self):
        return self.http2_target()

    def command(self):
        target = self.targets[self.served[0]]
        listen, upstream = (address.replace(":", ",") for address in (target.listen, target.upstream))
        log = f"accesslog-file={self.directory}/nghttpx-access.log\n" if self.logs else ""
        config = self.write(f"-{self.served[0]}.conf", f"""frontend={listen};no-tls
backend={upstream};;proto={"h2" if target.http2 else "http/1.1"}
workers=1
single-process=yes
errorlog-file={self.directory}/nghttpx-error.log
add-request-header=authorization: Bearer {self.endpoint.token}
backend-keep-alive-timeout=1h
{log}""")
        return ["nghttpx", f"--conf={config}"]


class NghttpxToHTTP2(Nghttpx):
    served = ("h2",)


class Envoy(Proxy):
    """Only where the environment's ENVOY names its binary."""

    name = "envoy"

    def own_targets(self):
        return self.http2_target()

    def command(self):
        listeners = [self.listener(name, target.listen) for name, target in self.targets.items()]
        clusters = [self.cluster(name, target) for name, target in self.targets.items()]
        config = self.write(".json", json.dumps(
            {"static_resources": {"listeners": listeners, "clusters": clusters}}))
        return [os.environ["ENVOY"], "--concurrency", "1", "--use-dynamic-base-id", "-l", "error", "-c", config]

    @staticmethod
    def address(text):
        kind, _, rest = text.partition(":")
        if kind == "unix":
            return {"pipe": {"path": rest}}
        return {"socket_address": {"address": kind, "port_value": int(rest)}}

    def listener(self, name, listen):
        log = {"name": "file", "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog",
            "path": os.path.join(self.directory, "envoy-access.log")}}
        manager = {
            "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3"
                     ".HttpConnectionManager",
            "stat_prefix": name,
            "access_log": [log] if self.logs else [],
            "http_filters": [{"name": "router", "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}],
            "route_config": {"virtual_hosts": [{
                "name": name, "domains": ["*"],
                "routes": [{"match": {"prefix": "/"}, "route": {
                    "cluster": name, "host_rewrite_literal": "localhost", "timeout": "60s"}}],
                "request_headers_to_add": [{
                    "header": {"key": "authorization", "value": "Bearer " + self.endpoint.token},
                    "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}]}]},
        }
        return {
            "name": name,
            "address": self.address(listen),
            "filter_chains": [{"filters": [{"name": "http", "typed_config": manager}]}],
        }

    def cluster(self, name, target):
        cluster = {
            "name": name, "type": "STATIC", "connect_timeout": "5s",
            "circuit_breakers": {"thresholds": [{"max_connections": 4096, "max_pending_requests": 4096,
                                                 "max_requests": 4096}]},
            "load_assignment": {"cluster_name": name, "endpoints": [{"lb_endpoints": [{"endpoint": {
                "address": self.address(target.upstream)}}]}]},
        }
        if target.http2:
            protocol = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
            cluster["typed_extension_protocol_options"] = {protocol: {
                "@type": f"type.googleapis.com/{protocol}",
                "explicit_http_config": {"http2_protocol_options": {}}}}
        if target.ca:
            names = [{"san_type": "DNS", "matcher": {"exact": "localhost"}}]
            cluster["transport_socket"] = {"name": "tls", "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
                "sni": "localhost",
                "common_tls_context": {"validation_context": {
                    "trusted_ca": {"filename": target.ca}, "match_typed_subject_alt_names": names}}}}
        return cluster


class Bearerd(Proxy):
    name = "bearerd"

    def __init__(self, *arguments, settings="", **options):
        self.settings = settings
        super().__init__(*arguments, **options)

    def own_targets(self):
        return {
            **self.http2_target(), "dpop": Target(f"127.0.0.1:{free_port()}", f"127.0.0.1:{self.upstream.plain}")}

    def command(self):
        self.admin = free_port()
        routes = ""
        for name, target in self.targets.items():
            scheme = "https://" if target.ca else "http://"
            upstream = target.upstream.replace("unix:", "http+unix:").replace("127.0.0.1", scheme + "localhost")
            routes += f"""
  - path: /
    listen: {target.listen}
    upstream: {upstream}
    identity: {"bound" if name == "dpop" else "bench"}
"""
            if target.ca:
                routes += f"    ca_file: {target.ca}\n"
            if target.http2:
                routes += "    upstream_protocol: h2\n"
        for path in self.routes:
            routes += f"""
  - {{path: {path}, upstream: 'http://{self.targets["plain"].upstream}', identity: bench}}"""
        config = self.write(".yaml", f"""
listen: [{", ".join(f"'{target.listen}'" for target in self.targets.values())}]
admin:
  listen: 127.0.0.1:{self.admin}
workers: 1
store:
  type: memory
log:
  access: {"true" if self.logs else "false"}
identities:
  bench:
    token_endpoint: {self.endpoint.url}
    client_id: bench
    client_secret: bench
    grant_type: client_credentials
  bound:
    token_endpoint: {self.endpoint.url}
    client_id: bench
    client_secret: bench
    grant_type: client_credentials
    dpop: true
routes:{routes}{self.settings}""")
        return [os.environ.get("BEARERD", ".build/release/bearerd"), "run", "-c", config]
