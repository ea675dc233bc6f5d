# SPDX-License-Identifier: Apache-2.0
"""The proxies: one worker on one core each, the same token, an access log to a file or none."""

import json
import os

from processes import PROXY_CORE, Process, free_port
from upstream import TOKEN


class Proxy:
    """One proxy with a listener for each kind of upstream."""

    def __init__(self, directory, upstream, endpoint, logs):
        self.directory = directory
        self.upstream = upstream
        self.endpoint = endpoint
        self.logs = logs
        # What is behind each listener: the port, and the CAs it is verified with.
        self.targets = {
            "plain": (upstream.plain, None),
            "tls": (upstream.tls, upstream.ca),
            "tls-bundle": (upstream.tls_close, upstream.bundle),
        }
        self.ports = {target: free_port() for target in self.targets}
        self.process = Process(self.name, self.command(), PROXY_CORE, directory, self.ports["plain"])

    def write(self, suffix, text):
        path = os.path.join(self.directory, self.name + suffix)
        with open(path, "w") as file:
            file.write(text)
        return path

    def stop(self):
        self.process.stop()


class Nginx(Proxy):
    name = "nginx"

    def command(self):
        servers = ""
        for target, (port, ca) in self.targets.items():
            verify = f"""
      proxy_ssl_trusted_certificate {ca}; proxy_ssl_verify on; proxy_ssl_verify_depth 3;
      proxy_ssl_name localhost; proxy_ssl_server_name on;""" if ca else ""
            servers += f"""
  upstream {target} {{ server 127.0.0.1:{port}; keepalive 512; keepalive_requests 1000000000; keepalive_time 1h; }}
  server {{
    listen 127.0.0.1:{self.ports[target]} backlog=4096;
    keepalive_requests 1000000000;
    location / {{
      proxy_pass {"https" if ca else "http"}://{target};
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host localhost;
      proxy_set_header Authorization "Bearer {TOKEN}";
      proxy_max_temp_file_size 0;{verify}
    }}
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
        for target, (port, ca) in self.targets.items():
            tls = f" ssl verify required ca-file {ca} sni str(localhost) verifyhost localhost" if ca else ""
            sections += f"""
listen {target}
  bind 127.0.0.1:{self.ports[target]} backlog 4096
  http-request set-header Authorization "Bearer {TOKEN}"
  http-reuse always
  server upstream 127.0.0.1:{port}{tls}
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
  timeout connect 5s
  timeout client 60s
  timeout server 60s
{sections}""")
        return ["haproxy", "-db", "-f", config]


class Envoy(Proxy):
    """Only where the environment's ENVOY names its binary."""

    name = "envoy"

    def command(self):
        listeners = [self.listener(target, port) for target, port in self.ports.items()]
        clusters = [self.cluster(target, *upstream) for target, upstream in self.targets.items()]
        config = self.write(".json", json.dumps(
            {"static_resources": {"listeners": listeners, "clusters": clusters}}))
        return [os.environ["ENVOY"], "--concurrency", "1", "--use-dynamic-base-id", "-l", "error", "-c", config]

    def listener(self, target, port):
        log = {"name": "file", "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog",
            "path": os.path.join(self.directory, "envoy-access.log")}}
        manager = {
            "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3"
                     ".HttpConnectionManager",
            "stat_prefix": target,
            "access_log": [log] if self.logs else [],
            "http_filters": [{"name": "router", "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}],
            "route_config": {"virtual_hosts": [{
                "name": target, "domains": ["*"],
                "routes": [{"match": {"prefix": "/"}, "route": {
                    "cluster": target, "host_rewrite_literal": "localhost", "timeout": "60s"}}],
                "request_headers_to_add": [{
                    "header": {"key": "authorization", "value": "Bearer " + TOKEN},
                    "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}]}]},
        }
        return {
            "name": target,
            "address": {"socket_address": {"address": "127.0.0.1", "port_value": port}},
            "filter_chains": [{"filters": [{"name": "http", "typed_config": manager}]}],
        }

    def cluster(self, target, port, ca):
        cluster = {
            "name": target, "type": "STATIC", "connect_timeout": "5s",
            "circuit_breakers": {"thresholds": [{"max_connections": 4096, "max_pending_requests": 4096,
                                                 "max_requests": 4096}]},
            "load_assignment": {"cluster_name": target, "endpoints": [{"lb_endpoints": [{"endpoint": {
                "address": {"socket_address": {"address": "127.0.0.1", "port_value": port}}}}]}]},
        }
        if ca:
            names = [{"san_type": "DNS", "matcher": {"exact": "localhost"}}]
            cluster["transport_socket"] = {"name": "tls", "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
                "sni": "localhost",
                "common_tls_context": {"validation_context": {
                    "trusted_ca": {"filename": ca}, "match_typed_subject_alt_names": names}}}}
        return cluster


class Bearerd(Proxy):
    name = "bearerd"

    def command(self):
        self.admin = free_port()
        routes = ""
        for target, (port, ca) in self.targets.items():
            routes += f"""
  - path: /
    listen: 127.0.0.1:{self.ports[target]}
    upstream: {"https" if ca else "http"}://localhost:{port}
    identity: bench
"""
            if ca:
                routes += f"    ca_file: {ca}\n"
        config = self.write(".yaml", f"""
listen: [{", ".join(f"'127.0.0.1:{port}'" for port in self.ports.values())}]
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
routes:{routes}""")
        return [os.environ.get("BEARERD", ".build/release/bearerd"), "run", "-c", config]
