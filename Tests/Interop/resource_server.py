# SPDX-License-Identifier: Apache-2.0
"""An API that lets nobody in whose token the provider would not vouch for."""

import base64
import http.server
import json
import ssl
import threading
import urllib.parse
import urllib.request

import jwt

from proofs import ProofJudge


class ByKeys:
    """Validates JWTs by the provider's published keys."""

    def __init__(self, provider):
        metadata = provider.metadata()
        self.issuers = provider.issuers
        self.context = ssl.create_default_context(cafile=provider.ca_file)
        self.keys = jwt.PyJWKClient(metadata["jwks_uri"], ssl_context=self.context)
        self.algorithms = ["RS256", "PS256", "ES256", "EdDSA"]

    def __call__(self, token):
        key = self.keys.get_signing_key_from_jwt(token)
        return jwt.decode(token, key.key, algorithms=self.algorithms, issuer=self.issuers, leeway=1,
                          options={"verify_aud": False, "require": ["exp", "iss"]})


class ByIntrospection:
    """Asks the provider about each token (RFC 7662)."""

    def __init__(self, provider, endpoint, client_id, client_secret):
        self.context = ssl.create_default_context(cafile=provider.ca_file)
        self.endpoint = endpoint
        credentials = ":".join(urllib.parse.quote(part, safe="") for part in (client_id, client_secret))
        self.authorization = "Basic " + base64.b64encode(credentials.encode()).decode()

    def __call__(self, token):
        request = urllib.request.Request(
            self.endpoint, urllib.parse.urlencode({"token": token}).encode(), {"Authorization": self.authorization})
        context = self.context if self.endpoint.startswith("https:") else None
        with urllib.request.urlopen(request, timeout=10, context=context) as answer:
            claims = json.load(answer)
        if claims.get("active") is not True:
            raise ValueError("the token is not active")
        return claims


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A proxy may close its connections."""


class ResourceServer:
    """Answers with the token's claims, or with 401; remembers what it saw."""

    def __init__(self, validate):
        self.validate = validate
        self.proofs = ProofJudge()
        self.accepted, self.refused, self.tokens = 0, [], set()
        self.lock = threading.Lock()
        api = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                api.answer(self)

            def do_HEAD(self):
                api.answer(self)

            def log_message(self, *arguments):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def judge(self, token):
        """The claims of a token that is good now; raises for any other."""
        return self.validate(token)

    def answer(self, handler):
        scheme, _, token = (handler.headers.get("Authorization") or "").partition(" ")
        try:
            if scheme.lower() not in ("bearer", "dpop"):
                raise ValueError("no token")
            claims, status = self.judge(token), 200
            if scheme.lower() == "dpop":
                self.proofs(handler.headers, handler.command, f"http://{handler.headers['Host']}{handler.path}",
                            token, claims)
            elif "cnf" in claims:
                raise ValueError("a token that is bound to a key, without a proof of that")
        except Exception as error:  # whatever the token's fault is
            claims, status = {"error": f"{type(error).__name__}: {error}"}, 401
        with self.lock:
            if status == 200:
                self.accepted += 1
                self.tokens.add(token)
            else:
                self.refused.append(claims["error"])
        body = json.dumps(claims).encode()
        handler.send_response(status)
        if status == 401:
            handler.send_header("WWW-Authenticate", 'Bearer realm="orders", error="invalid_token"')
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(body)

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
