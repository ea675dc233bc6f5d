# SPDX-License-Identifier: Apache-2.0
"""A Kubernetes cluster as far as its service-account tokens go: an issuer with keys, and tokens for files."""

import http.server
import json
import os
import threading
import time
import uuid

import jwt

from support import make_key, write


class Cluster:
    """Publishes its discovery document and keys on loopback, as the API server does."""

    def __init__(self, directory):
        self.directory = directory
        self.private, public = make_key(directory, "cluster", "RS256")
        with open(public, "rb") as file:
            from cryptography.hazmat.primitives.serialization import load_pem_public_key
            key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(load_pem_public_key(file.read())))
        self.keys = {"keys": [{**key, "kid": "cluster", "use": "sig", "alg": "RS256"}]}
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.issuer = f"http://localhost:{self.server.server_port}"

    def _handler(self):
        cluster = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                document = cluster.keys if self.path == "/openid/v1/jwks" else {
                    "issuer": cluster.issuer, "jwks_uri": cluster.issuer + "/openid/v1/jwks",
                    "response_types_supported": ["id_token"], "subject_types_supported": ["public"],
                    "id_token_signing_alg_values_supported": ["RS256"]}
                body = json.dumps(document).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        return Handler

    def project(self, subject, audience, lifetime=600):
        """The file of a projected token, made anew, as the kubelet does."""
        now = int(time.time())
        _, _, namespace, name = subject.split(":")
        token = jwt.encode(
            {"iss": self.issuer, "sub": subject, "aud": [audience], "iat": now, "nbf": now, "exp": now + lifetime,
             "jti": str(uuid.uuid4()),
             "kubernetes.io": {"namespace": namespace, "serviceaccount": {"name": name, "uid": str(uuid.uuid4())}}},
            open(self.private).read(), algorithm="RS256", headers={"kid": "cluster"})
        return write(os.path.join(self.directory, "projected-token"), token)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
