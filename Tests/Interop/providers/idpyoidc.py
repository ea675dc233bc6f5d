# SPDX-License-Identifier: Apache-2.0
"""idpyoidc, from PyPI: token exchange (RFC 8693), JWT client authentication, ES256 everywhere.

A library whose endpoints `servers/idpyoidc_server.py` puts behind HTTP. A client gets client_credentials once;
the second time the library fails.
"""

import base64
import hashlib
import json
import os
import sys
import urllib.parse

import jwt
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from provider import AWKWARD_SECRET, Provider
from support import Process, expect, make_key, read, write

SERVER = os.path.join(os.path.dirname(__file__), "..", "servers", "idpyoidc_server.py")
LONG_SECRET = "not-a-real-secret-but-32-bytes-long"


class IdPyOIDC(Provider):
    name = "idpyoidc"
    refuses_clearly = False

    @property
    def issuer(self):
        return f"http://localhost:{self.port}"

    def start(self):
        self.client_key, public = make_key(self.directory, "client", "ES256")
        key = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(load_pem_public_key(read(public).encode())))
        methods = {
            **{name: ("client_secret_basic", LONG_SECRET) for name in ("basic", "service", "exchange", "elsewhere")},
            **{f"awkward-{n}": ("client_secret_basic", AWKWARD_SECRET) for n in range(2)},
            "post": ("client_secret_post", LONG_SECRET), "secret-jwt": ("client_secret_jwt", LONG_SECRET),
            "key": ("private_key_jwt", None)}
        clients = [{"client_id": name, "token_endpoint_auth_method": method, "redirect_uris": [self.redirect_uri],
                    **({"client_secret": secret} if secret else {"jwk": {**key, "kid": "interop", "use": "sig"}})}
                   for name, (method, secret) in methods.items()]
        settings = write(os.path.join(self.directory, "settings.json"), json.dumps({
            "port": self.port, "username": self.username, "password": self.password, "lifetime": 5,
            "clients": clients}))
        self.process = Process([sys.executable, SERVER, self.directory, settings],
                               os.path.join(self.directory, "log"), cwd=self.directory)
        self.process.wait_until(self.is_up, "idpyoidc")

    def identities(self):
        # It calls the type of these tokens `access_token`.
        service = {"grant_type": "client_credentials", "accept_token_types": ["access_token"]}
        # OpenID Connect Core 11: no offline_access without consent; this provider insists.
        consent = {"authorization_params": {"prompt": "consent"}}
        person = self.login("basic", LONG_SECRET, **consent)
        return {
            **self.after_login(person, "tokens of five seconds", "iss in the redirect (RFC 9207)"),
            "client_credentials": self.identity("service", LONG_SECRET, **service),
            "token exchange": self.identity(
                "elsewhere", LONG_SECRET, grant_type="token_exchange",
                subject_token_type="urn:ietf:params:oauth:token-type:access_token"),
            "client_secret_basic": [
                self.identity(f"awkward-{number}", AWKWARD_SECRET, basic_encoding=encoding, **service)
                for number, encoding in enumerate(("auto", "raw"))],
            "client_secret_post": self.identity(
                "post", LONG_SECRET, token_endpoint_auth_method="client_secret_post", **service),
            "client_secret_jwt": self.identity(
                "secret-jwt", LONG_SECRET, token_endpoint_auth_method="client_secret_jwt", **service),
            "private_key_jwt": self.login(
                "key", private_key_file=self.client_key, private_key_id="interop", signing_alg="ES256", **consent),
        }

    def subject_token(self):
        """An access token that another program got by a login."""
        verifier = "not-a-real-verifier-but-one-of-forty-three-characters"
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        request = {"client_id": "elsewhere", "response_type": "code", "scope": "openid profile offline_access",
                   "redirect_uri": self.redirect_uri, "state": "elsewhere", "nonce": "elsewhere",
                   "prompt": "consent", "code_challenge": challenge, "code_challenge_method": "S256"}
        redirect = self.authorize(
            self.browser(), f"{self.issuer}/authorization?{urllib.parse.urlencode(request)}")
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(redirect).query))
        status, answer = self.post(
            f"{self.issuer}/token", {"grant_type": "authorization_code", "code": query["code"],
                                     "redirect_uri": self.redirect_uri, "code_verifier": verifier},
            "elsewhere", LONG_SECRET)
        expect(status == 200, f"the login of another program: {status} {answer}")
        return answer["access_token"]
