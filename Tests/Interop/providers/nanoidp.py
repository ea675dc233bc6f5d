# SPDX-License-Identifier: Apache-2.0
"""NanoIDP, from PyPI: exact in its error codes; rotation that ends the session when a token is used twice.

Its tokens live for whole minutes. Over http it sends no `iss` in the redirect.
"""

import os
import sys

import yaml

from provider import AWKWARD_SECRET, Provider
from support import Process, expect, write


class NanoIDP(Provider):
    name = "nanoidp"

    @property
    def issuer(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        configuration = os.path.join(self.directory, "configuration")
        os.makedirs(configuration)
        client = {"redirect_uris": [self.redirect_uri], "post_logout_redirect_uris": [self.redirect_uri]}
        write(os.path.join(configuration, "settings.yaml"), yaml.safe_dump({
            "config_version": 1,
            "server": {"host": "127.0.0.1", "port": self.port},
            "runtime": {"store": "memory"},
            "session": {"secret_key": "not-a-real-key", "management_secret": "not-a-real-secret"},
            "jwt": {"keys_dir": os.path.join(self.directory, "keys")},
            "device_flow": {"code_expiry_seconds": 120, "polling_interval": 1},
            "oauth": {
                "issuer": self.issuer, "audience": "https://orders.example.test", "token_expiry_minutes": 1,
                "refresh_token_expiry_minutes": 60, "refresh_token_rotation": True,
                "dynamic_registration": {"enabled": True},
                "clients": [
                    {"client_id": "basic", "client_secret": "not-a-real-secret", **client},
                    {"client_id": "awkward", "client_secret": AWKWARD_SECRET, **client},
                    {"client_id": "post", "client_secret": "not-a-real-secret",
                     "token_endpoint_auth_method": "client_secret_post", **client},
                    {"client_id": "public", "token_endpoint_auth_method": "none", **client},
                ]}}))
        write(os.path.join(configuration, "users.yaml"), yaml.safe_dump({
            "config_version": 1, "users": {self.username: {
                "password": self.password, "email": "alice@example.test", "roles": ["USER"], "tenant": "default"}}}))
        program = os.path.join(os.path.dirname(sys.executable), "nanoidp")
        self.process = Process([program, "--config", configuration, "--profile", "dev"],
                               os.path.join(self.directory, "log"), cwd=self.directory)
        self.process.wait_until(self.is_up, "NanoIDP")

    def identities(self):
        secret = "not-a-real-secret"
        service = {"grant_type": "client_credentials"}
        person = self.login("basic", secret)
        return {
            **self.with_any_grant(secret, service, "openid"),
            **self.after_login(person, "end_session"),
        }

    def authorize(self, browser, url):
        answer = browser.request("POST", url, form={"username": self.username, "password": self.password})
        return answer.location or answer

    def approve_device(self, browser, url, code):
        answer = browser.request("POST", f"{self.issuer}/device", form={
            "user_code": code, "username": self.username, "password": self.password})
        expect(answer.status == 200, f"the device page answered {answer.status}")

    def refresh_token_from_elsewhere(self):
        status, answer = self.post(
            f"{self.issuer}/token", {"grant_type": "password", "username": self.username, "password": self.password,
                                     "scope": "openid"}, "basic", "not-a-real-secret")
        expect(status == 200, f"the password grant of another program: {status}")
        return answer["refresh_token"]
