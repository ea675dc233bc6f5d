# SPDX-License-Identifier: Apache-2.0
"""glewlwyd, from Debian: every client authentication, tokens of seconds, error answers without a body.

Its database is SQLite; everything else is set up over its JSON interface. Its cookies belong to `localhost`.
"""

import gzip
import os
import re
import shutil
import sqlite3
import urllib.parse

from provider import AWKWARD_SECRET, Provider
from support import Process, expect, make_key, read, write

SCHEMA = "/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3"
SAMPLE = "/usr/share/doc/glewlwyd/glewlwyd.conf.sample.gz"
SCOPES = ["profile", "email", "offline_access", "orders"]
GRANTS = ["code", "password", "client_credentials", "refresh_token", "delete_token", "device_authorization"]


class Glewlwyd(Provider):
    name = "glewlwyd"
    ends_sessions_for_programs = False
    refuses_clearly = False

    @classmethod
    def why_not(cls):
        return None if shutil.which("glewlwyd") else "it is not installed: deploy/bootstrap glewlwyd"

    @property
    def server(self):
        return f"http://localhost:{self.port}"

    @property
    def issuer(self):
        return f"{self.server}/api/oidc"

    def start(self):
        make_key(self.directory, "signing", "RS256")
        self.client_key, self.client_public = make_key(self.directory, "client", "ES256")
        database = sqlite3.connect(os.path.join(self.directory, "db"))
        with open(SCHEMA) as schema:
            database.executescript(schema.read())
        database.close()
        configuration = write(os.path.join(self.directory, "glewlwyd.conf"), self.configuration())
        self.process = Process([shutil.which("glewlwyd"), "-c", configuration], os.path.join(self.directory, "log"))
        self.admin = self.browser()
        self.process.wait_until(self.answers, "glewlwyd")
        self.set_up()
        self.process.wait_until(self.is_up, "glewlwyd's plugin")

    def answers(self):
        try:
            return self.admin.request("GET", f"{self.server}/config").status == 200
        except OSError:
            return False

    def configuration(self):
        with gzip.open(SAMPLE, "rt") as sample:
            mime_types = re.search(r"static_files_mime_types.*", sample.read(), re.DOTALL).group(0)
        modules = {"user": "user", "user_middleware": "user_middleware", "client": "client",
                   "scheme": "user_auth_scheme", "plugin": "plugin"}
        lines = [f'{key}_module_path="/usr/lib/glewlwyd/{folder}"' for folder, key in modules.items()]
        return "\n".join([
            f"port={self.port}", 'bind_address="127.0.0.1"', f'external_url="{self.server}"',
            'login_url="login.html"', 'api_prefix="api"', f'static_files_path="{self.directory}"',
            'log_mode="console"', 'log_level="INFO"', 'cookie_domain="localhost"', "cookie_secure=0",
            'session_key="GLEWLWYD2_SESSION_ID"', "session_expiration=86400", 'admin_scope="g_admin"',
            'profile_scope="g_profile"', 'hash_algorithm="SHA512"', *lines,
            f'database = {{ type="sqlite3"; path="{self.directory}/db"; }};', mime_types])

    def call(self, method, path, body=None):
        answer = self.admin.request(method, f"{self.server}/api{path}", body=body)
        expect(answer.status == 200, lambda: f"{method} {path}: {answer.status} {answer.text[:200]}")
        return answer.json if answer.body.startswith((b"{", b"[")) else None

    def set_up(self):
        self.call("POST", "/auth/", {"username": "admin", "password": "password"})
        module = self.call("GET", "/mod/client/database")
        module["parameters"]["data-format"]["post_logout_redirect_uris"] = {
            "multiple": True, "read": True, "write": True}
        self.call("PUT", "/mod/client/database", module)
        self.call("PUT", "/mod/reload/")
        for scope in SCOPES:
            self.call("POST", "/scope/", {"name": scope, "display_name": scope, "description": scope,
                                          "password_required": False, "scheme": {}})
        self.call("POST", "/mod/plugin/", {"module": "oidc", "name": "oidc", "display_name": "OIDC",
                                           "enabled": True, "parameters": self.plugin()})
        self.client("basic", "client_secret_basic", client_secret="not-a-real-secret")
        self.client("awkward", "client_secret_basic", client_secret=AWKWARD_SECRET)
        self.client("post", "client_secret_post", client_secret="not-a-real-secret")
        self.client("secret-jwt", "client_secret_jwt", client_secret="not-a-real-secret-but-32-bytes-long")
        self.client("key", "private_key_jwt", pubkey=read(self.client_public))
        self.client("public", "none")
        self.call("POST", "/user/?source=database", {
            "username": self.username, "name": "Alice Example", "password": self.password, "enabled": True,
            "email": "alice@example.test", "scope": ["openid", *SCOPES, "g_profile"]})

    def plugin(self):
        """What glewlwyd's plugin for OpenID Connect wants to be told; it knows no defaults."""
        def on(*names):
            return dict.fromkeys(names, True)
        return {
            "iss": self.issuer, "jwt-type": "rsa", "jwt-key-size": "256",
            "key": read(os.path.join(self.directory, "signing.key")),
            "cert": read(os.path.join(self.directory, "signing.pub")),
            "access-token-duration": 5, "refresh-token-duration": 86400, "code-duration": 600,
            "refresh-token-one-use": "always", "client-refresh-token-one-use-parameter": "refresh_token_one_use",
            "device-authorization-expiration": 120, "device-authorization-interval": 1,
            "allowed-scope": ["openid", *SCOPES], "scope": [], "additional-parameters": [], "claims": [],
            "name-claim": "on-demand", "name-claim-scope": ["profile"],
            "email-claim": "on-demand", "email-claim-scope": ["email"], "scope-claim": "no", "scope-claim-scope": [],
            "address-claim": {"type": "no", "formatted": "", "street_address": "", "locality": "", "region": "",
                              "postal_code": "", "country": "", "mandatory": False},
            "pkce-scopes": [], "pkce-method-plain-allowed": False, "pkce-required": False,
            "introspection-revocation-auth-scope": [], "register-client-auth-scope": [],
            "register-client-credentials-scope": ["orders"], "register-default-properties": {},
            "request-maximum-exp": 3600, "session-cookie-name": "GLEWLWYD2_OIDC_SID",
            "session-cookie-expiration": 86400, "resource-scope": {}, "resource-client-property": "resource",
            "resource-scope-and-client-property": False, "subject-type": "public", "jwks-x5c": [],
            "client-pubkey-parameter": "pubkey", "client-jwks-parameter": "jwks",
            "client-jwks_uri-parameter": "jwks_uri", "service-documentation": "", "op-policy-uri": "",
            "op-tos-uri": "", "restrict-scope-client-property": "", "encrypt-out-token-allow": False,
            "oauth-dpop-allowed": False, "oauth-par-allowed": False, "auth-type-token-enabled": False,
            "auth-type-implicit-enabled": False,
            **on("refresh-token-rolling", "allow-non-oidc", "auth-type-client-enabled", "auth-type-code-enabled",
                 "auth-type-code-revoke-replayed", "auth-type-password-enabled", "auth-type-refresh-enabled",
                 "auth-type-device-enabled", "pkce-allowed", "introspection-revocation-allowed",
                 "introspection-revocation-allow-target-client", "register-client-allowed",
                 "register-client-management-allowed", "request-parameter-allow", "session-management-allowed",
                 "resource-allowed", "oauth-as-iss-id", "jwks-show"),
        }

    def client(self, client_id, authentication, **more):
        self.call("POST", "/client/?source=database", {
            "client_id": client_id, "name": client_id, "enabled": True, "confidential": authentication != "none",
            "redirect_uri": [self.redirect_uri], "post_logout_redirect_uris": [self.redirect_uri],
            "authorization_type": GRANTS, "scope": ["openid", *SCOPES],
            "token_endpoint_auth_method": [authentication], **more})

    def identities(self):
        secret = "not-a-real-secret"
        service = {"grant_type": "client_credentials", "scope": "orders"}
        person = self.login("basic", secret)
        return {
            **self.with_any_grant(secret, service, "profile"),
            **self.after_login(person, "tokens of five seconds", "end_session", "iss in the redirect (RFC 9207)"),
            "client_secret_jwt": self.identity(
                "secret-jwt", "not-a-real-secret-but-32-bytes-long",
                token_endpoint_auth_method="client_secret_jwt", **service),
            "private_key_jwt": [
                self.identity("key", private_key_file=self.client_key, signing_alg="ES256", **service),
                self.login("key", private_key_file=self.client_key, signing_alg="ES256")],
        }

    # Its login page is a script that talks to the JSON interface, and so is this.

    def agree(self, browser, page):
        """Logs in and agrees for the login page at `page`; returns the address that goes on."""
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(page).query))
        answer = browser.request("POST", f"{self.server}/api/auth/",
                                 body={"username": self.username, "password": self.password})
        expect(answer.status == 200, f"login: {answer.status}")
        browser.request("PUT", f"{self.server}/api/auth/grant/{query['client_id']}",
                        body={"scope": query.get("scope", "")})
        address = query["callback_url"]
        return address + ("&" if "?" in address else "?") + "g_continue"

    def authorize(self, browser, url):
        for _ in range(8):
            answer = browser.request("GET", url)
            if not answer.location:
                return answer
            if answer.location.startswith(self.redirect_uri):
                return answer.location
            url = self.agree(browser, answer.location) if "callback_url=" in answer.location else answer.location
        raise AssertionError("glewlwyd's login does not come to an end")

    def approve_device(self, browser, url, code):
        for _ in range(8):
            answer = browser.request("GET", url)
            expect(answer.location, f"the device page answered {answer.status}")
            if "prompt=deviceComplete" in answer.location:
                return
            url = self.agree(browser, answer.location)
        raise AssertionError("glewlwyd's device page does not come to an end")

    def refresh_token_from_elsewhere(self):
        status, answer = self.post(
            f"{self.issuer}/token", {"grant_type": "password", "username": self.username, "password": self.password,
                                     "scope": "profile"}, "basic", "not-a-real-secret")
        expect(status == 200, f"the password grant of another program: {status}")
        return answer["refresh_token"]
