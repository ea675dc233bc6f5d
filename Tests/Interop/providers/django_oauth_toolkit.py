# SPDX-License-Identifier: Apache-2.0
"""django-oauth-toolkit, from PyPI: opaque tokens of seconds, Basic credentials form-decoded, metadata in two places.

A client there has one grant. The device authorization endpoint stands in no document.
"""

import json
import os
import sys

from browser import FormReader
from provider import AWKWARD_SECRET, Provider
from resource_server import ByIntrospection
from support import Process, expect, make_key, read, write

SERVER = os.path.join(os.path.dirname(__file__), "..", "servers", "django_server.py")


class DjangoOAuthToolkit(Provider):
    name = "django-oauth-toolkit"
    ends_sessions_for_programs = False

    @property
    def issuer(self):
        return f"http://localhost:{self.port}/o"

    def start(self):
        make_key(self.directory, "signing", "RS256")
        code = {"authorization_grant_type": "authorization-code", "redirect_uris": self.redirect_uri,
                "post_logout_redirect_uris": self.redirect_uri, "algorithm": "RS256"}
        secret = {"client_type": "confidential", "client_secret": "not-a-real-secret"}
        public = {"client_type": "public", "client_secret": ""}
        service = {"authorization_grant_type": "client-credentials", "algorithm": ""}
        clients = {
            "web": {**code, **secret}, "public": {**code, **public}, "service": {**service, **secret},
            "awkward": {**service, **secret, "client_secret": AWKWARD_SECRET},
            "password": {"authorization_grant_type": "password", "algorithm": "RS256", **secret},
            "device": {"authorization_grant_type": "urn:ietf:params:oauth:grant-type:device_code",
                       "algorithm": "", **public},
        }
        settings = write(os.path.join(self.directory, "settings.json"), json.dumps({
            "port": self.port, "signing_key": read(os.path.join(self.directory, "signing.key")),
            "username": self.username, "password": self.password, "lifetime": 5,
            "clients": [{"name": name, "client_id": name, **client} for name, client in clients.items()]}))
        self.process = Process([sys.executable, SERVER, self.directory, settings],
                               os.path.join(self.directory, "log"), cwd=self.directory)
        self.process.wait_until(self.is_up, "django-oauth-toolkit")

    def identities(self):
        secret = "not-a-real-secret"
        service = {"grant_type": "client_credentials", "scope": "orders"}
        person = self.login("web", secret, "openid profile")
        return {
            **self.after_login(person, "tokens of five seconds", "end_session", "iss in the redirect (RFC 9207)"),
            "client_credentials": self.identity("service", secret, **service),
            "login: public client": self.login("public", None, "openid profile"),
            "login: device": self.identity(
                "device", grant_type="device_code", scope="orders",
                device_authorization_endpoint=f"{self.issuer}/device-authorization/"),
            "password": self.password_grant("password", secret, "openid"),
            "import of a refresh token": self.identity("password", secret, grant_type="refresh_token"),
            "client_secret_basic": self.awkward("auto", "form", **service),
            "client_secret_post": self.identity(
                "awkward", AWKWARD_SECRET, token_endpoint_auth_method="client_secret_post", **service),
            # With `openid` the token endpoint of this provider fails for clients that registered themselves.
            "registration": self.registering("profile"),
        }

    def approve_device(self, browser, url, code):
        page = browser.walk(url, self.username, self.password, until=None)
        for values, button in (({"user_code": code}, None), ({"action": "accept"}, None)):
            form = next(form for form in FormReader(page.text).forms if form.method == "POST")
            page = browser.submit(page, form, values, button)
            while page.location:
                page = browser.request("GET", page.location)
        expect(page.status == 200, f"the device page answered {page.status}")

    def validation(self):
        return ByIntrospection(self, f"{self.issuer}/introspect/", "service", "not-a-real-secret")

    def refresh_token_from_elsewhere(self):
        status, answer = self.post(
            f"{self.issuer}/token/", {"grant_type": "password", "username": self.username,
                                      "password": self.password, "scope": "openid"}, "password", "not-a-real-secret")
        expect(status == 200, f"the password grant of another program: {status}")
        return answer["refresh_token"]
