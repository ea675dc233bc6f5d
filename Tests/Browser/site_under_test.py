# SPDX-License-Identifier: Apache-2.0
"""The API behind bearerd, the web sites whose pages try to use it, bearerd itself, and the browser."""

import http.server
import json
import os
import queue
import re
import signal
import socket
import subprocess
import threading
import urllib.request
from collections import namedtuple

PATIENCE = 60
Request = namedtuple("Request", "method path token")


class Server(http.server.ThreadingHTTPServer):
    """A server on a free port of loopback, for as long as a `with` lasts."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.handler())
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handler(server):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, kind, content = server.respond(self, body)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_DELETE = do_OPTIONS = answer

            def log_message(self, *_):
                pass

        return Handler

    def handle_error(self, *_):
        """A browser that is ended leaves connections behind."""

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Upstream(Server):
    """The API: says hello, and remembers who asked. `/page` and `/result` are as with the web sites."""

    def __init__(self, pages):
        self.requests = []
        self.page = ""
        self.pages = pages
        super().__init__()

    def respond(self, request, body):
        if request.path == "/result":
            return self.pages.respond(request, body)
        if request.path == "/page":
            return 200, "text/html", self.page.encode()
        if request.path == "/favicon.ico":
            return 404, "text/plain", b""
        token = (request.headers.get("Authorization") or "").startswith("Bearer ")
        self.requests.append(Request(request.command, request.path, token))
        return 200, "text/plain", f"{request.command} hello".encode()


class Pages(Server):
    """Web sites: every name leads here, `/page` is the page of the moment, and `/result` takes what it found out."""

    def __init__(self):
        self.page = ""
        self.results = queue.Queue()
        super().__init__()

    def respond(self, request, body):
        if request.path == "/result":
            self.results.put(json.loads(body))
            return 200, "text/plain", b""
        return (200, "text/html", self.page.encode()) if request.path == "/page" else (404, "text/plain", b"")


class Sidecar:
    """bearerd in front of the API, with a provider of its own, for as long as a `with` lasts."""

    def __init__(self, binary, scheme, upstream, friend, directory):
        self.port, self.admin, provider = free_ports(3)
        tls = ""
        if scheme == "https":
            certificate, key = (os.path.join(directory, name) for name in ("server.pem", "server.key"))
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                            "-days", "30", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                            "-keyout", key, "-out", certificate], check=True, capture_output=True)
            tls = f"tls: {{certificate_file: {certificate}, key_file: {key}}}"
        self.file = os.path.join(directory, f"{scheme}.yaml")
        with open(self.file, "w") as file:
            file.write(f"""
listen: "127.0.0.1:{self.port}"
{tls}
admin: {{listen: "127.0.0.1:{self.admin}"}}
access: {{origins: ["{friend}"]}}
development: {{provider: "127.0.0.1:{provider}"}}
identities:
  demo: {{issuer: "http://127.0.0.1:{provider}", client_id: demo, client_secret: demo, grant_type: client_credentials}}
routes:
  - {{path: /, upstream: "http://127.0.0.1:{upstream}", identity: demo}}
store: {{type: memory}}
""")
        self.binary = binary

    def __enter__(self):
        self.process = subprocess.Popen([self.binary, "run", "-c", self.file], stderr=subprocess.DEVNULL)
        subprocess.run([self.binary, "wait", "--ready", "-c", self.file], check=True)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(PATIENCE)

    def denied(self, reason):
        """How many requests were refused for this reason."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}/metrics", timeout=PATIENCE) as answer:
            found = re.search(rf'^bearerd_denied_total{{reason="{reason}"}} (\d+)', answer.read().decode(), re.M)
        return int(found.group(1))


class Browser:
    """Chromium without a window; a new one for each page, so that nothing is remembered."""

    def __init__(self, program, directory):
        self.program = program
        self.directory = directory
        self.visits = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def visit(self, pages, address, page, proxy):
        """Opens an address, and returns what the page there reports; None if nothing does within a while.

        `page` is what the web sites serve from now on; None where the address is none of theirs.
        """
        pages.page = (page or "").replace("PROXY", proxy)
        self.visits += 1
        home = os.path.join(self.directory, f"browser-{self.visits}")
        command = [self.program, "--headless", "--disable-gpu", "--no-first-run", "--disable-extensions",
                   "--ignore-certificate-errors", "--remote-debugging-port=0", f"--user-data-dir={home}",
                   # Its own sandbox needs rights that a test may not have; it sees no pages but ours.
                   "--no-sandbox", "--host-resolver-rules=MAP *.test 127.0.0.1"]
        # The program may be a shell's script: what it starts goes with it, as one group.
        process = subprocess.Popen([*command, address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            # Where no page is to come, a few seconds without one are enough.
            return pages.results.get(timeout=PATIENCE if "rebound" not in address else 5)
        except queue.Empty:
            return None
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def free_ports(count):
    """Ports that nobody listened on a moment ago."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [it.getsockname()[1] for it in sockets]
    for it in sockets:
        it.close()
    return ports
