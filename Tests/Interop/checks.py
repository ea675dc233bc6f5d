# SPDX-License-Identifier: Apache-2.0
"""One check for each feature: what a user would do, with the real binary, and what must come of it."""

import json
import os
import shutil
import time
import urllib.parse

from sidecar import EXIT_DONE, EXIT_PERMISSION, EXIT_UNAVAILABLE, Login, Sidecar
from support import expect, wait_until, write


class Case:
    """One feature on one provider: sidecars to try it with."""

    def __init__(self, provider, api, directory, identity):
        self.provider, self.api, self.directory, self.identity = provider, api, directory, identity
        self.sidecars, self.logins = [], []

    def sidecar(self, identity=None, store=None):
        directory = os.path.join(self.directory, f"bearerd-{len(self.sidecars)}")
        self.sidecars.append(Sidecar(directory, identity or self.identity, self.api.address, store))
        return self.sidecars[-1]

    def copy(self, sidecar):
        """A sidecar with a copy of another one's store, which knows nothing of what happens there later."""
        copy = self.sidecar(sidecar.identity)
        shutil.copytree(sidecar.store, copy.store)
        return copy

    def begin_login(self, sidecar, *options):
        self.logins.append(Login(sidecar, *(options or ["--no-browser"])))
        return self.logins[-1]

    def clean(self):
        """Ends what a failed check left behind."""
        for login in self.logins:
            login.give_up()
        for sidecar in self.sidecars:
            sidecar.kill()

    def login(self, sidecar):
        """A login in the browser; returns the page that the person sees at the end."""
        login = self.begin_login(sidecar)
        browser = self.provider.browser()
        redirect = self.provider.authorize(browser, login.address("client_id="))
        page = deliver(browser, redirect)
        login.result().must_be()
        return page

    def logged_in(self, identity=None):
        """A sidecar that a person has just logged in to."""
        sidecar = self.sidecar(identity)
        self.login(sidecar)
        return sidecar


def deliver(browser, redirect):
    """Visits the redirect to the client; `redirect` is a page instead if the provider had something to say."""
    expect(isinstance(redirect, str), lambda: f"the provider did not redirect: {redirect.status} at "
           f"{redirect.url.split('?')[0]}: {' '.join(redirect.text.split())[:300]}")
    return browser.request("GET", redirect)


def call_api(sidecar):
    """One request through the daemon; the claims of the token that the API saw."""
    answer = sidecar.call()
    expect(answer.status == 200, lambda: f"the API answered {answer.status} through the proxy: {answer.text[:300]}")
    return answer.json


def served(sidecar):
    """Starts the daemon, makes one request through it, and stops it."""
    with sidecar:
        return call_api(sidecar)


# Grants

def without_person(case):
    """A grant from configuration: the daemon gets its token by itself."""
    served(case.sidecar())


def token_exchange(case):
    """A token of somebody else's becomes one of ours."""
    subject = case.provider.subject_token()
    sidecar = case.sidecar()
    sidecar.configure({**case.identity, "subject_token_file": write(
        os.path.join(sidecar.directory, "subject-token"), subject)})
    with sidecar:
        call_api(sidecar)
    expect(subject not in case.api.tokens, "the subject token itself went to the API")


def code_and_pkce(case):
    """The code flow, and the API's answer to the person's token; a forged redirect changes nothing."""
    sidecar = case.sidecar()
    login = case.begin_login(sidecar)
    url = login.address("client_id=")
    query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
    expect(query.get("code_challenge_method") == "S256", "no PKCE with S256")
    expect(query.get("state"), "no state")
    browser = case.provider.browser()
    redirect = case.provider.authorize(browser, url)
    expect(isinstance(redirect, str), lambda: f"no redirect: {redirect.status} {redirect.text[:300]}")
    forged = browser.request("GET", redirect.split("?")[0] + "?code=forged&state=forged")
    expect(forged.status >= 400, f"a forged redirect was answered with {forged.status}")
    expect(deliver(browser, redirect).status == 200, "no success page")
    login.result().must_be()
    served(sidecar)


def device(case):
    """RFC 8628: the person agrees on another screen."""
    sidecar = case.sidecar()
    login = case.begin_login(sidecar, "--device")
    case.provider.approve_device(case.provider.browser(), *login.device_code())
    login.result(60).must_be()
    served(sidecar)


def issuer_in_redirect(case):
    """RFC 9207: the issuer comes along, and a wrong one ends the login without harming the session."""
    sidecar = case.logged_in()
    token = sidecar.status()["generation"]
    login = case.begin_login(sidecar)
    browser = case.provider.browser()
    redirect = case.provider.authorize(browser, login.address("client_id="))
    parts = urllib.parse.urlsplit(redirect)
    query = dict(urllib.parse.parse_qsl(parts.query))
    expect(query.get("iss") == case.provider.metadata()["issuer"], f"iss is {query.get('iss')}")
    query["iss"] = "https://mixed-up.example.test"
    browser.request("GET", parts._replace(query=urllib.parse.urlencode(query)).geturl())
    login.give_up()
    expect(login.result().code != 0, "a login with a wrong iss succeeded")
    expect(sidecar.status()["generation"] == token, "a refused login changed the session")
    served(sidecar)


# Client authentication: the grant is beside the point, the token is what counts.

def client_authentication(case):
    needs_person = case.identity.get("grant_type", "authorization_code") == "authorization_code"
    served(case.logged_in() if needs_person else case.sidecar())


# The life of a session

def refresh(case):
    """A forced refresh brings another token, and the API takes it."""
    sidecar = case.logged_in()
    before = sidecar.token()
    sidecar.command("refresh").must_be()
    expect(sidecar.token() != before, "the refresh brought the same access token")
    served(sidecar)


def rotation(case):
    """Each refresh uses the refresh token of the one before, across processes."""
    sidecar = case.logged_in()
    for _ in range(4):
        sidecar.command("refresh").must_be()
    served(sidecar)


def reuse(case):
    """A copy of the store that was left behind finds its refresh token used up, says so and stays calm."""
    sidecar = case.logged_in()
    copy = case.copy(sidecar)
    for _ in range(2):
        time.sleep(1.1)  # Keycloak compares whole seconds
        sidecar.command("refresh").must_be()
    if case.provider.refuses_clearly:
        copy.command("refresh").must_be(EXIT_PERMISSION)
        state = copy.status()["state"]
        expect(state == "login_required", f"the state is {state}")
        case.login(copy)
        return served(copy)
    # An answer that may mean anything is tried again before it is believed.
    copy.command("refresh").must_be(EXIT_UNAVAILABLE)
    with copy:
        wait_until(lambda: copy.call().json.get("code") == "login_required", "login_required", seconds=30)
        case.login(copy)
        wait_until(lambda: copy.call().status == 200, "the daemon uses the new login")


# No token is sent in the last second of its life.
LAST_SECOND = 1.0


def expiry(case):
    """Tokens live for seconds; a client sees nothing of it, unless the API takes a whole second to judge a token."""
    sidecar = case.logged_in()
    seen, in_time = len(case.api.tokens), 0
    with sidecar:
        until = time.monotonic() + 13
        while time.monotonic() < until:
            began = time.monotonic()
            answer = sidecar.call()
            took = time.monotonic() - began
            expect(answer.status == 200 or answer.status == 401 and took >= LAST_SECOND, lambda: f"the API answered "
                   f"{answer.status} through the proxy after {took:.3f} s: {answer.text[:300]}; it refused: "
                   f"{case.api.refused[-5:]}")
            in_time += answer.status == 200
            time.sleep(0.1)
    expect(len(case.api.tokens) - seen >= 2, "the token was not renewed")
    expect(in_time >= 10, f"{in_time} answers in 13 s")


def revocation(case):
    """What is revoked is dead at the provider."""
    sidecar = case.logged_in()
    copy = case.copy(sidecar)
    sidecar.command("revoke").must_be()
    refused = copy.command("refresh")
    expect(refused.code != 0, "the refresh token still works after its revocation")


def userinfo(case):
    """The claims of the person."""
    sidecar = case.logged_in()
    claims = json.loads(sidecar.command("userinfo").must_be().out)
    expect(claims.get("sub"), "no sub")


def end_session(case):
    """Logout: nothing is left in the store, and the provider knows."""
    sidecar = case.logged_in()
    copy = case.copy(sidecar)
    sidecar.command("logout", "--no-browser").must_be(
        EXIT_DONE if case.provider.ends_sessions_for_programs else EXIT_UNAVAILABLE)
    state = sidecar.status()["state"]
    expect(state in ("empty", "login_required"), f"after logout the state is {state}")
    refused = copy.command("refresh")
    expect(refused.code != 0, "the refresh token still works after logout")
    case.login(sidecar)
    served(sidecar)


def registration(case):
    """The client registers itself and then logs in."""
    sidecar = case.sidecar()
    sidecar.configure(case.provider.with_initial_access_token(case.identity))
    sidecar.command("register").must_be()
    case.login(sidecar)
    served(sidecar)


def importing(case):
    """A refresh token that somebody else obtained."""
    token = case.provider.refresh_token_from_elsewhere()
    sidecar = case.sidecar()
    file = write(os.path.join(sidecar.directory, "refresh-token"), token + "\n")
    sidecar.command("import", "--refresh-token", file).must_be()
    sidecar.command("import", "--refresh-token", file).must_be()
    served(sidecar)


def relogin_while_running(case):
    """A running daemon uses what the login command brought within a second."""
    sidecar = case.sidecar()
    with sidecar:
        answer = sidecar.call()
        expect(answer.status == 503 and answer.json["code"] == "login_required",
               lambda: f"without a login: {answer.status} {answer.text[:200]}")
        case.login(sidecar)
        wait_until(lambda: sidecar.call().status == 200, "the daemon uses the new login")


def on_admin_listener(case):
    """A person follows the link of the status page, without a command; a second visit of the redirect changes nothing."""
    sidecar = case.sidecar()
    with sidecar:
        browser = case.provider.browser()
        begun = browser.request("GET", f"http://127.0.0.1:{sidecar.admin}/login/default")
        expect(begun.location, lambda: f"no way to the provider: {begun.status} {begun.text[:300]}")
        redirect = case.provider.authorize(browser, begun.location)
        page = deliver(browser, redirect)
        expect(page.status == 200 and "is logged in" in page.text, lambda: f"{page.status} {page.text[:300]}")
        wait_until(lambda: sidecar.call().status == 200, "the daemon uses the login")
        again = deliver(browser, redirect) if str(sidecar.admin) in redirect else None
        expect(again is None or again.status == 410, "the redirect counted twice")


FEATURES = {
    "client_credentials": without_person,
    "login: code and PKCE": code_and_pkce,
    "login: public client": code_and_pkce,
    "login: beside a running daemon": relogin_while_running,
    "login: on the admin listener": on_admin_listener,
    "login: device": device,
    "password": without_person,
    "token exchange": token_exchange,
    "jwt bearer": without_person,
    "import of a refresh token": importing,
    "iss in the redirect (RFC 9207)": issuer_in_redirect,
    "client_secret_basic": client_authentication,
    "client_secret_post": client_authentication,
    "client_secret_jwt": client_authentication,
    "private_key_jwt": client_authentication,
    "tls_client_auth": client_authentication,
    "refresh": refresh,
    "rotation": rotation,
    "reuse is noticed": reuse,
    "tokens of five seconds": expiry,
    "revocation": revocation,
    "userinfo": userinfo,
    "end_session": end_session,
    "registration": registration,
}
