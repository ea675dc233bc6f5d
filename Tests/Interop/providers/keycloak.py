# SPDX-License-Identifier: Apache-2.0
"""Keycloak, from an unpacked distribution; over TLS, with an authority of its own."""

import json
import os
import shutil

import jwt

import keycloak_checks
from provider import AWKWARD_SECRET, Provider
from support import Process, expect, free_port, make_certificate, make_key, read

REALM_FILE = os.path.join(os.path.dirname(__file__), "..", "..", "..", "deploy", "keycloak", "realm.json")
# A boot takes some 35 s of processor time with the first compiler alone, and 58 s with both.
JAVA_OPTIONS = "-Xms64m -Xmx512m -XX:TieredStopAtLevel=1"
ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"]


class Keycloak(Provider):
    name = "keycloak"

    @classmethod
    def why_not(cls):
        home = os.environ.get("KEYCLOAK_HOME")
        if not home:
            return "KEYCLOAK_HOME is not set; it names an unpacked distribution of Keycloak"
        if not os.path.exists(os.path.join(home, "bin", "kc.sh")):
            return f"there is no bin/kc.sh in KEYCLOAK_HOME ({home})"
        if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
            return "there is no java on PATH, and JAVA_HOME is not set"
        return None

    @property
    def server(self):
        return f"https://localhost:{self.port}"

    @property
    def issuer(self):
        return f"{self.server}/realms/demo"

    @property
    def issuers(self):
        return [self.issuer, f"https://sso.example.test:{self.port}/realms/demo"]

    @property
    def token_endpoint(self):
        return f"{self.issuer}/protocol/openid-connect/token"

    def start(self):
        self.ca_file, self.tls_key = make_certificate(self.directory)
        self.keys = {algorithm: make_key(self.directory, algorithm, algorithm) for algorithm in ALGORITHMS}
        self.home = self.private_home(os.environ["KEYCLOAK_HOME"])
        with open(os.path.join(self.home, "data", "import", "realm.json"), "w") as file:
            json.dump(self.realm(), file)
        self.boot()

    def private_home(self, distribution):
        """A folder that Keycloak may write to; what is big in it is linked."""
        home = os.path.join(self.directory, "home")
        for part in ("bin", "conf", os.path.join("lib", "quarkus")):
            shutil.copytree(os.path.join(distribution, part), os.path.join(home, part))
        os.makedirs(os.path.join(home, "data", "import"))
        for folder in ("", "lib"):
            for part in os.listdir(os.path.join(distribution, folder)):
                place = os.path.join(home, folder, part)
                if not os.path.lexists(place):
                    os.symlink(os.path.join(os.path.abspath(distribution), folder, part), place)
        # Keycloak takes the real place of what starts it for its home.
        os.remove(os.path.join(home, "lib", "quarkus-run.jar"))
        shutil.copy(os.path.join(distribution, "lib", "quarkus-run.jar"), os.path.join(home, "lib"))
        return home

    def boot(self):
        """Starts the server; what it knows lives in its memory."""
        # A distribution that can be built anew takes the development mode; one that was built once cannot.
        can_build = os.path.exists(os.path.join(self.home, "lib", "lib", "deployment"))
        command = [os.path.join(self.home, "bin", "kc.sh"), *(
            ["start-dev", "--db=dev-mem"] if can_build else ["start", "--optimized", "--cache=local"])]
        command += ["--http-host=127.0.0.1", "--hostname-strict=false", "--import-realm",
                    f"--https-port={self.port}", f"--https-certificate-file={self.ca_file}",
                    f"--https-certificate-key-file={self.tls_key}"]
        environment = dict(
            os.environ, KC_BOOTSTRAP_ADMIN_USERNAME="admin", KC_BOOTSTRAP_ADMIN_PASSWORD="admin",
            KC_HTTP_MANAGEMENT_PORT=str(free_port()), JAVA_OPTS_KC_HEAP=JAVA_OPTIONS)
        environment.pop("KEYCLOAK_HOME", None)
        self.process = Process(command, os.path.join(self.directory, "log"), env=environment, cwd=self.home)
        self.process.wait_until(self.is_up, "Keycloak", seconds=900, pause=1)

    def realm(self):
        """The realm of the documentation, and the clients that only a test wants."""
        with open(REALM_FILE) as file:
            realm = json.load(file)
        service = {"serviceAccountsEnabled": True, "standardFlowEnabled": False}
        realm["clients"] += [
            {"clientId": "awkward", "secret": AWKWARD_SECRET, **service},
            {"clientId": "secret-jwt", "secret": "not-a-real-secret-but-32-bytes-long",
             "clientAuthenticatorType": "client-secret-jwt", **service},
            *({"clientId": f"key-{algorithm}", "clientAuthenticatorType": "client-jwt", **service, "attributes": {
                "use.jwks.string": "true", "jwks.string": json.dumps({"keys": [public_jwk(path, algorithm)]}),
                "token.endpoint.auth.signing.alg": algorithm}} for algorithm, (_, path) in self.keys.items()),
            {"clientId": "elsewhere", "secret": "not-a-real-secret", "standardFlowEnabled": False,
             "directAccessGrantsEnabled": True, "protocolMappers": [{
                 "name": "for legacy-app", "protocol": "openid-connect",
                 "protocolMapper": "oidc-audience-mapper",
                 "config": {"included.client.audience": "legacy-app", "access.token.claim": "true"}}]},
            {"clientId": "five-seconds", "secret": "not-a-real-secret", "redirectUris": ["http://127.0.0.1/callback"],
             "attributes": {"access.token.lifespan": "5"}},
            {"clientId": "bound", "secret": "not-a-real-secret", "redirectUris": ["http://127.0.0.1/callback"],
             "attributes": {"dpop.bound.access.tokens": "true", "require.pushed.authorization.requests": "true"}},
        ]
        return realm

    def identities(self):
        secret = "not-a-real-secret-of-legacy-app"
        online = "openid profile"
        loopback = {"redirect_uri": "http://127.0.0.1:0/callback"}
        app = {**self.login("legacy-app", secret, online), **loopback}
        desktop = {**self.login("legacy-desktop", None, online), **loopback}
        short = {**self.login("five-seconds", "not-a-real-secret", online), **loopback}
        service = {"grant_type": "client_credentials"}
        elsewhere = self.identity("elsewhere", "not-a-real-secret")
        return {
            "client_credentials": self.identity("legacy-app", secret, **service),
            "login: code and PKCE": [app, {**app, "preset": "keycloak"}],
            "login: public client": desktop,
            "login: beside a running daemon": desktop,
            "login: on the admin listener": [desktop, app],
            "login: device": [
                self.identity("legacy-app", secret, grant_type="device_code", scope=online),
                self.identity("legacy-desktop", grant_type="device_code", scope=online)],
            "password": {**elsewhere, "grant_type": "password", "username": self.username,
                         "password": self.password},
            "token exchange": self.identity(
                "legacy-app", secret, grant_type="token_exchange",
                subject_token_type="urn:ietf:params:oauth:token-type:access_token"),
            "import of a refresh token": {**elsewhere, "grant_type": "refresh_token"},
            "iss in the redirect (RFC 9207)": desktop,
            "client_secret_basic": [
                self.identity("awkward", AWKWARD_SECRET, **service, basic_encoding=encoding)
                for encoding in ("auto", "form")],
            "client_secret_post": self.identity(
                "awkward", AWKWARD_SECRET, **service, token_endpoint_auth_method="client_secret_post"),
            "client_secret_jwt": self.identity(
                "secret-jwt", "not-a-real-secret-but-32-bytes-long", **service,
                token_endpoint_auth_method="client_secret_jwt"),
            "private_key_jwt": [
                self.identity(f"key-{algorithm}", private_key_file=private, private_key_id="interop",
                              signing_alg=algorithm, assertion_audience=audience, **service)
                for algorithm, (private, _) in self.keys.items()
                for audience in (("token_endpoint", "issuer") if algorithm == "ES256" else ("token_endpoint",))],
            "refresh": [app, desktop],
            "rotation": app,
            "reuse is noticed": app,
            "tokens of five seconds": short,
            "revocation": app,
            "userinfo": app,
            "end_session": app,
            "registration": {"issuer": self.issuer, "ca_file": self.ca_file, **loopback,
                             "grant_type": "authorization_code", "scope": online},
            **{feature: short for feature in keycloak_checks.CHECKS},
            "DPoP and PAR, both required": {**self.login("bound", "not-a-real-secret", online), **loopback},
        }

    def own_checks(self):
        return keycloak_checks.CHECKS

    # What is done behind bearerd's back.

    def administer(self, method, path, body=None):
        """A request to the administration interface."""
        status, answer = self.post(
            f"{self.server}/realms/master/protocol/openid-connect/token",
            {"grant_type": "password", "client_id": "admin-cli", "username": "admin", "password": "admin"})
        expect(status == 200, f"no administrator's token: {status}")
        answer = self.browser().request(
            method, f"{self.server}/admin/realms/demo{path}", body=body,
            headers={"Authorization": "Bearer " + answer["access_token"], "Accept": "application/json"})
        expect(answer.status < 300, lambda: f"{method} {path}: {answer.status} {answer.text[:200]}")
        return answer.json if answer.body else None

    def person(self):
        """The user's representation in the administration interface."""
        return self.administer("GET", f"/users?username={self.username}")[0]

    def tokens_from_elsewhere(self, scope):
        status, answer = self.post(
            self.token_endpoint, {"grant_type": "password", "username": self.username, "password": self.password,
                                  "scope": scope}, "elsewhere", "not-a-real-secret")
        expect(status == 200, f"the password grant of another program: {status} {answer}")
        return answer

    def subject_token(self):
        return self.tokens_from_elsewhere("openid")["access_token"]

    def refresh_token_from_elsewhere(self):
        return self.tokens_from_elsewhere("openid offline_access")["refresh_token"]

    def with_initial_access_token(self, identity):
        answer = self.administer("POST", "/clients-initial-access", {"expiration": 300, "count": 5})
        return {**identity, "initial_access_token": answer["token"]}


def public_jwk(path, algorithm):
    """The public key in a PEM file as a JWK."""
    kinds = {"RS256": jwt.algorithms.RSAAlgorithm, "PS256": jwt.algorithms.RSAAlgorithm,
             "ES256": jwt.algorithms.ECAlgorithm, "EdDSA": jwt.algorithms.OKPAlgorithm}
    from cryptography.hazmat.primitives.serialization import load_pem_public_key
    key = load_pem_public_key(read(path).encode())
    return {**json.loads(kinds[algorithm].to_jwk(key)), "kid": "interop", "use": "sig", "alg": algorithm}
