# SPDX-License-Identifier: Apache-2.0
"""What the checks ask of a provider; one file in `providers` for each."""

import base64
import json
import ssl
import urllib.error
import urllib.parse
import urllib.request

from browser import Browser
from resource_server import ByKeys
from support import free_port, fresh_directory

# A secret that Basic credentials spell differently when they are form-encoded (RFC 6749 2.3.1) and when not.
AWKWARD_SECRET = "fake+secret%2Fwith:odd&bytes=a/b c"


class Provider:
    """A provider nobody here wrote, on loopback."""

    name = ""
    username, password = "alice", "not-a-real-password"
    ca_file = None
    # Whether it says `invalid_grant` of a dead refresh token.
    refuses_clearly = True
    # Whether its end_session takes the POST that OpenID Connect RP-Initiated Logout demands; else a browser's GET alone.
    ends_sessions_for_programs = True

    def __init__(self, directory):
        self.directory = fresh_directory(directory)
        self.port = free_port()
        # Most providers compare redirect addresses to the letter, so the port is fixed before registration.
        self.redirect_uri = f"http://127.0.0.1:{free_port()}/callback"
        self.process = None

    # What each has to say of itself.

    @classmethod
    def why_not(cls):
        """Why it cannot run on this machine; None if it can."""
        return None

    @property
    def issuer(self):
        raise NotImplementedError

    @property
    def issuers(self):
        """All names under which it issues tokens."""
        return [self.issuer]

    def start(self):
        """Returns when the provider answers and knows its clients and its user."""
        raise NotImplementedError

    def identities(self):
        """The identity of the configuration for each feature that the provider supports, or several of them."""
        raise NotImplementedError

    def authorize(self, browser, url):
        """Logs in at an authorization request; returns the redirect to the client, unvisited."""
        return browser.walk(url, self.username, self.password, until="http://127.0.0.1:")

    def approve_device(self, browser, url, code):
        """Logs in at the address that a device shows, and agrees."""
        browser.walk(url, self.username, self.password, until=None)

    def end_session(self, browser, url):
        """Does what the person does at the address that ends the session."""
        return browser.walk(url, self.username, self.password, until="http://127.0.0.1:")

    def validation(self):
        """How a resource server tells good tokens from bad ones."""
        return ByKeys(self)

    def own_checks(self):
        """Checks that make sense with this provider alone."""
        return {}

    def with_initial_access_token(self, identity):
        """`identity` with what this provider wants to see of somebody who registers a client."""
        return identity

    def stop(self):
        if self.process:
            self.process.stop()

    # What is the same for all.

    def identity(self, client_id, client_secret=None, **more):
        """An identity of the configuration, as a user would write it."""
        identity = {"issuer": self.issuer, "client_id": client_id}
        if client_secret:
            identity["client_secret"] = client_secret
        if self.ca_file:
            identity["ca_file"] = self.ca_file
        return {**identity, **more}

    def login(self, client_id, client_secret=None, scope="openid profile offline_access", **more):
        """An identity that a person logs in to."""
        return self.identity(
            client_id, client_secret, grant_type="authorization_code", scope=scope,
            redirect_uri=self.redirect_uri, **more)

    def password_grant(self, client_id, client_secret, scope):
        """An identity that has the person's password."""
        return self.identity(client_id, client_secret, grant_type="password", username=self.username,
                             password=self.password, scope=scope)

    def with_any_grant(self, secret, service, scope):
        """The features of a provider whose client `basic` may use every grant."""
        return {
            "client_credentials": self.identity("basic", secret, **service),
            "login: public client": self.login("public"),
            "login: device": self.identity("basic", secret, grant_type="device_code", scope="openid profile"),
            "password": self.password_grant("basic", secret, scope),
            "import of a refresh token": self.identity("basic", secret, grant_type="refresh_token"),
            "client_secret_basic": self.awkward("auto", "raw", **service),
            "client_secret_post": self.identity(
                "post", secret, token_endpoint_auth_method="client_secret_post", **service),
            "registration": self.registering("openid profile"),
        }

    def registering(self, scope):
        """An identity whose client is yet to be registered."""
        return {"issuer": self.issuer, "redirect_uri": self.redirect_uri, "scope": scope,
                "grant_type": "authorization_code"}

    @staticmethod
    def after_login(person, *more):
        """The features that every provider has once somebody is logged in, and `more` of them."""
        return dict.fromkeys(
            ["login: code and PKCE", "login: beside a running daemon",
             "login: on the admin listener", "refresh", "rotation", "reuse is noticed",
             "revocation", "userinfo", *more], person)

    def awkward(self, *encodings, **more):
        """Identities whose secret is spelled differently in each encoding of Basic credentials."""
        return [self.identity("awkward", AWKWARD_SECRET, basic_encoding=encoding, **more) for encoding in encodings]

    def browser(self):
        return Browser(self.ca_file)

    def metadata(self):
        """The provider's own discovery document."""
        answer = self.browser().request("GET", self.issuer + "/.well-known/openid-configuration")
        return answer.json

    def is_up(self):
        """Whether it answers discovery."""
        try:
            return self.browser().request("GET", self.issuer + "/.well-known/openid-configuration").status == 200
        except (OSError, ssl.SSLError):
            return False

    def post(self, url, form, client_id=None, client_secret=None):
        """A request to the provider without bearerd: its status and its JSON."""
        request = urllib.request.Request(url, urllib.parse.urlencode(form).encode())
        if client_id:
            credentials = ":".join(urllib.parse.quote(part, safe="") for part in (client_id, client_secret))
            request.add_header("Authorization", "Basic " + base64.b64encode(credentials.encode()).decode())
        context = ssl.create_default_context(cafile=self.ca_file) if url.startswith("https:") else None
        try:
            with urllib.request.urlopen(request, timeout=20, context=context) as answer:
                return answer.status, json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            body = error.read()
            return error.code, json.loads(body) if body.startswith(b"{") else {}
