# SPDX-License-Identifier: Apache-2.0
"""A Kubernetes cluster as far as its service-account tokens go: an issuer with keys, and tokens for files."""

import json
import os
import time
import uuid

import jwt

from json_server import JSONServer
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
        self.server = JSONServer(self._document)
        self.issuer = f"http://localhost:{self.server.server_port}"

    def _document(self, path, _fields, _body):
        return self.keys if path == "/openid/v1/jwks" else {
            "issuer": self.issuer, "jwks_uri": self.issuer + "/openid/v1/jwks",
            "response_types_supported": ["id_token"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"]}

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
        return self

    def __exit__(self, *_):
        self.server.stop()
