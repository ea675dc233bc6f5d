# SPDX-License-Identifier: Apache-2.0
"""The other side: an nginx that answers, a token endpoint, and a certificate authority of its own."""

import os
import re
import secrets
import subprocess
import sys
import urllib.request

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "Interop"))
from json_server import JSONServer
from processes import LOAD_CORE, Process, free_port

SYSTEM_BUNDLE = "/etc/ssl/certs/ca-certificates.crt"

# As long as the access token of a Keycloak with a few roles.
TOKEN = "eyJhbGciOiJSUzI1NiJ9." + secrets.token_hex(640)


class Upstream:
    """Serves bodies of fixed sizes and takes any POST, over TCP, a Unix socket and TLS, kept alive and not."""

    def __init__(self, directory):
        self.directory = directory
        self.stream_process = None
        self.plain, self.tls, self.tls_close, self.http2, self.counter, self.streams = (free_port() for _ in range(6))
        self.socket = f"unix:{directory}/upstream.socket"
        self.make_files()
        self.make_certificates()
        config = os.path.join(directory, "upstream.conf")
        with open(config, "w") as file:
            file.write(self.config())
        self.process = Process(
            "upstream", ["nginx", "-e", "stderr", "-p", directory, "-c", config], LOAD_CORE, directory, self.plain)

    def make_files(self):
        os.makedirs(os.path.join(self.directory, "www"))
        for name, size in (("1k", 1024), ("64k", 65536), ("10m", 10 << 20)):
            with open(os.path.join(self.directory, "www", name), "wb") as file:
                file.write(b"x" * size)

    def make_certificates(self):
        """A CA, a certificate for localhost, and the system's bundle with that CA added."""
        def path(name):
            return os.path.join(self.directory, name)

        def openssl(*arguments):
            subprocess.run(["openssl", *arguments], check=True, capture_output=True)

        self.ca = path("ca.pem")
        self.bundle = path("bundle.pem")
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        openssl("req", "-x509", *curve, "-keyout", path("ca.key"), "-out", self.ca, "-days", "2", "-subj", "/CN=bench")
        openssl("req", *curve, "-keyout", path("server.key"), "-out", path("server.csr"), "-subj", "/CN=localhost")
        with open(path("names"), "w") as file:
            file.write("subjectAltName=DNS:localhost\n")
        openssl("x509", "-req", "-in", path("server.csr"), "-CA", self.ca, "-CAkey", path("ca.key"), "-CAcreateserial",
                "-days", "2", "-extfile", path("names"), "-out", path("server.pem"))
        with open(self.bundle, "w") as bundle:
            for part in (SYSTEM_BUNDLE, self.ca):
                if os.path.exists(part):
                    with open(part) as file:
                        bundle.write(file.read())

    def config(self):
        def server(address, tls="", timeout="1h"):
            return f"""
  server {{
    listen {address}{" ssl" if tls else ""} backlog=4096;
    {tls}
    keepalive_timeout {timeout};
    keepalive_requests 1000000000;
    root {self.directory}/www;
    location / {{ }}
    location = / {{ return 200 "{"x" * 1024}"; }}
    location /post {{ return 200 "ok"; }}
    # Answers as a call does; nobody on the way reads what a message holds.
    location /bench.Service/ {{ default_type application/grpc; add_trailer grpc-status 0; return 200 "{"x" * 105}"; }}
    location /routes/ {{ return 200 "{"x" * 1024}"; }}
  }}"""
        tls = "ssl_certificate server.pem; ssl_certificate_key server.key; ssl_protocols TLSv1.2 TLSv1.3;"
        return f"""
worker_processes 1; daemon off; master_process off; pid upstream.pid;
events {{ worker_connections 4096; }}
http {{
  access_log off; sendfile on; tcp_nopush on; open_file_cache max=10; types {{ }} default_type text/plain;
  client_body_temp_path tmp-u1; proxy_temp_path tmp-u2; fastcgi_temp_path tmp-u3; uwsgi_temp_path tmp-u4;
  scgi_temp_path tmp-u5;
  {server(f"127.0.0.1:{self.plain}")}
  {server(self.socket)}
  {server(f"127.0.0.1:{self.http2} http2")}
  {server(f"127.0.0.1:{self.tls}", tls)}
  {server(f"127.0.0.1:{self.tls_close}", tls, "0")}
  server {{ listen 127.0.0.1:{self.counter}; location / {{ stub_status; }} }}
}}
"""

    def start_streams(self):
        """Starts what sends event streams; needed by few."""
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "streams.py")
        self.stream_process = Process(
            "streams", [sys.executable, script, "upstream", str(self.streams)], LOAD_CORE, self.directory, self.streams)

    def events(self):
        """How many events it has sent over all streams."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.streams}/sent") as answer:
            return int(answer.read())

    def requests(self):
        """How many requests it has answered, not counting the questions for this number."""
        self.questions = getattr(self, "questions", 0) + 1
        with urllib.request.urlopen(f"http://127.0.0.1:{self.counter}/") as answer:
            total = int(re.search(r"\n +\d+ +\d+ +(\d+)", answer.read().decode()).group(1))
        return total - self.questions

    def stop(self):
        self.process.stop()
        if self.stream_process:
            self.stream_process.stop()


class TokenEndpoint:
    """Hands out one token; not part of what is measured."""

    def __init__(self, token=TOKEN):
        def answer(path, fields, body):
            kind = "DPoP" if fields.get("DPoP") else "Bearer"
            return {"access_token": token, "token_type": kind, "expires_in": 86400}

        self.token = token
        self.server = JSONServer(answer)
        self.url = f"http://127.0.0.1:{self.server.server_port}/token"

    def stop(self):
        self.server.stop()
