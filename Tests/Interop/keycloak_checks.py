# SPDX-License-Identifier: Apache-2.0
"""What happens to a session in the life of a Keycloak: many users of one session, administrators, restarts."""

import json
import os
import shutil
import sys
import threading
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "Browser"))

from checks import call_api, deliver, served  # noqa: E402
from cluster import Cluster  # noqa: E402
from devtools import Window  # noqa: E402
from sidecar import EXIT_DONE, EXIT_PERMISSION, EXIT_UNAVAILABLE  # noqa: E402
from support import expect, kept_port, wait_until  # noqa: E402

LOAD_SECONDS = int(os.environ.get("LOAD_SECONDS", "60"))


def refused(sidecar):
    """A refresh that Keycloak refuses for good."""
    result = sidecar.command("refresh")
    expect(result.code == EXIT_PERMISSION, lambda: f"{result}, expected exit {EXIT_PERMISSION}")


def shared_under_load(case):
    """Two daemons and ten commands on one session with rotation, all at once; nothing may fail."""
    first = case.logged_in()
    second = case.sidecar(store=first.store)
    generation = first.status()["generation"]
    failures, counts = [], {"requests": 0, "commands": 0}
    lock = threading.Lock()
    until = time.monotonic() + LOAD_SECONDS

    def repeat(kind, action):
        while time.monotonic() < until and len(failures) < 5:
            try:
                action()
            except Exception as error:
                failures.append(f"{kind}: {error}")
            with lock:
                counts[kind] += 1

    def command(*arguments):
        def run():
            first.command(*arguments).must_be()
            time.sleep(0.5)
        return run

    with first, second:
        actions = [("requests", lambda daemon=daemon: (call_api(daemon), time.sleep(0.02)))
                   for daemon in (first, second) for _ in range(4)]
        actions += [("commands", command(*arguments)) for arguments in
                    [("token",)] * 4 + [("refresh",)] * 4 + [("status",)] * 2]
        threads = [threading.Thread(target=repeat, args=action) for action in actions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    expect(not failures, lambda: f"{len(failures)} failed, the first: {failures[0]}")
    refreshes = first.status()["generation"] - generation
    expect(refreshes >= LOAD_SECONDS / 5, f"only {refreshes} refreshes")
    served(second)
    print(f"keycloak: {counts['requests']} requests, {counts['commands']} commands, {refreshes} refreshes", flush=True)


def disabled_and_enabled(case):
    """A disabled user is final, but the token is kept: it works again when the user does."""
    sidecar = case.logged_in()
    person = case.provider.person()
    case.provider.administer("PUT", f"/users/{person['id']}", {**person, "enabled": False})
    try:
        refused(sidecar)
        state = sidecar.status()["state"]
        expect(state == "login_required", f"the state is {state}")
    finally:
        case.provider.administer("PUT", f"/users/{person['id']}", {**person, "enabled": True})
    sidecar.command("refresh").must_be()
    served(sidecar)


def signed_out(case):
    """An administrator ends the session: 503 with the reason, until somebody logs in."""
    sidecar = case.logged_in()
    with sidecar:
        call_api(sidecar)
        case.provider.administer("POST", f"/users/{case.provider.person()['id']}/logout")
        answer = wait_until(lambda: (answer := sidecar.call()).status == 503 and answer, "503", seconds=30)
        expect(answer.json["code"] == "login_required", f"the code is {answer.json['code']}")
        expect(answer.headers.get("Retry-After"), "no Retry-After")
        case.login(sidecar)
        wait_until(lambda: sidecar.call().status == 200, "the daemon uses the new login")


def keys_rotated(case):
    """New signing keys: tokens, and id tokens at the next login, are taken as before."""
    sidecar = case.logged_in()
    with sidecar:
        call_api(sidecar)
        realm = case.provider.administer("GET", "")
        case.provider.administer("POST", "/components", {
            "name": "newer", "providerId": "rsa-generated", "providerType": "org.keycloak.keys.KeyProvider",
            "parentId": realm["id"], "config": {"priority": ["500"], "enabled": ["true"], "active": ["true"]}})
        sidecar.command("refresh").must_be()
        call_api(sidecar)
        case.login(sidecar)
        call_api(sidecar)


def restarted(case):
    """Keycloak goes and comes back without its sessions and with other keys.

    A program that logs in as itself notices nothing but the gap; a person has to log in again.
    """
    person = case.logged_in()
    service = case.sidecar(case.provider.identities()["client_credentials"])
    with person, service:
        call_api(person)
        call_api(service)
        # One that ends in order may still refuse a refresh because it has forgotten the session, which would be final.
        case.provider.process.stop(patience=0)
        with kept_port(case.provider.port):
            call_api(service)  # its token is good for a minute
            answer = wait_until(lambda: (answer := person.call()).status == 503 and answer, "503", seconds=30)
            expect(answer.json["code"] == "idp_unavailable", lambda: f"the answer is {answer.text[:400]}")
            case.provider.boot()
        # Two back-offs of 30 s and what a server that has just started takes.
        wait_until(lambda: person.call().json.get("code") == "login_required",
                   lambda: f"login_required; the answer is {person.call().text[:400]}", seconds=120)
        case.login(person)
        wait_until(lambda: person.call().status == 200, "the daemon uses the new login")
        service.command("refresh").must_be()
        wait_until(lambda: service.call().status == 200, "the service's new token")


def other_name(case):
    """The issuer has a name that leads nowhere from here; `connect_to` says where it really is."""
    served(case.sidecar({
        **case.provider.identities()["client_credentials"], "issuer": case.provider.issuers[1],
        "connect_to": f"localhost:{case.provider.port}"}))


def bound(case):
    """A client whose tokens must be bound to a key, and whose logins must be pushed; by a person and by itself."""
    person = case.sidecar({**case.identity, "dpop": True, "par": True})
    login = case.begin_login(person)
    address = login.address("request_uri=")
    expect("scope=" not in address and "state=" not in address, f"the browser shows {address}")
    browser = case.provider.browser()
    deliver(browser, case.provider.authorize(browser, address))
    login.result().must_be()
    with person:
        first = call_api(person)["cnf"]["jkt"]
        person.command("refresh").must_be()
        second = call_api(person)["cnf"]["jkt"]
        expect(first == second, "a refresh brought another key")
        person.command("userinfo").must_be()
    service = case.sidecar({**case.provider.identities()["client_credentials"], "dpop": "auto"})
    expect("cnf" in served(service), "Keycloak offers DPoP, and the token is bound to nothing")


def kubernetes(case):
    """A pod proves itself by its service account's token; one for another audience does not."""
    subject, issuer = "system:serviceaccount:shop:orders", case.provider.issuer
    with Cluster(case.directory) as cluster:
        case.provider.administer("POST", "/identity-provider/instances", {
            "alias": "cluster", "providerId": "kubernetes", "enabled": True, "config": {"issuer": cluster.issuer}})
        case.provider.administer("POST", "/clients", {
            "clientId": "workload", "enabled": True, "publicClient": False, "protocol": "openid-connect",
            "serviceAccountsEnabled": True, "standardFlowEnabled": False, "clientAuthenticatorType": "federated-jwt",
            "attributes": {"jwt.credential.issuer": "cluster", "jwt.credential.sub": subject}})
        file = cluster.project(subject, issuer)
        sidecar = case.sidecar({"grant_type": "client_credentials", "issuer": issuer, "ca_file": case.provider.ca_file,
                                "client_id": "workload", "assertion_file": file})
        with sidecar:
            call_api(sidecar)
            cluster.project(subject, issuer)  # the kubelet renews it
            sidecar.command("refresh").must_be()
            cluster.project(subject, "https://another.example.test")
            expect(sidecar.command("refresh").code != 0, "a token for another audience was taken")
            call_api(sidecar)  # the access token that there is


def diagnosis(sidecar, *options):
    """The exit code of doctor and its checks by id."""
    result = sidecar.command("doctor", "--json", *options)
    try:
        report = json.loads(result.out)
    except ValueError:
        raise AssertionError(str(result)) from None
    expect(report["success"] == (result.code == EXIT_DONE), lambda: f"{result}: success is {report['success']}")
    return result.code, {check["id"]: check for check in report["checks"]}


def examined(case):
    """doctor finds nothing where all is well, before a login what is missing, and of a wrong secret where it stands."""
    service, person = case.sidecar(case.provider.identities()["client_credentials"]), case.sidecar()
    code, checks = diagnosis(person)
    troubled = {check["id"]: check["fix"] for check in checks.values() if check["result"] == "fail"}
    expect(troubled == {id: "bearerd login default" for id in ("token", "refresh-token")}, f"before a login: {troubled}")
    case.login(person)
    for sidecar in (service, person):
        for options in ([], ["--live"]):
            code, checks = diagnosis(sidecar, *options)
            troubled = [check for check in checks.values() if check["result"] not in ("ok", "skip")]
            expect(code == EXIT_DONE and not troubled, f"doctor {options} complains: {troubled}")
            seen = checks["client-auth"]["seen"]
            expect(seen.endswith("was accepted") == bool(options), f"client-auth {options}: {seen}")
    served(person)
    service.configure({**service.identity, "client_secret": "another"})
    code, checks = diagnosis(service)
    expect(code == EXIT_DONE, f"a secret was tried without --live: {checks['client-auth']}")
    code, checks = diagnosis(service, "--live")
    found = checks["client-auth"]
    expect(code == EXIT_UNAVAILABLE and found["result"] == "fail", f"a wrong secret: {found}")
    # Keycloak says unauthorized_client, which others say of a grant that the client may not use.
    expect(found["fix"].startswith("identities.default.client_secret"), f"a wrong secret: {found}")
    expect("invalid_client" in found["seen"] or "unauthorized_client" in found["seen"], f"a wrong secret: {found}")


def in_chromium(case):
    """A person logs in from the status page, in a real browser, and the page then shows who it is."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if not program:
        print("keycloak: the login in Chromium was LEFT OUT: there is none", flush=True)
        return
    sidecar = case.sidecar()
    with sidecar, Window(program, os.path.join(case.directory, "chromium"), "--ignore-certificate-errors") as window:
        window.open(f"http://127.0.0.1:{sidecar.admin}/")
        window.evaluate("document.querySelector('a.button.first').click()")
        expect(window.sees("!!document.querySelector('input[name=username]')"), "no login page of Keycloak's")
        window.evaluate(f"""{{
          document.querySelector('input[name=username]').value = '{case.provider.username}';
          document.querySelector('input[name=password]').value = '{case.provider.password}';
          document.querySelector('form').submit();
        }}""")
        expect(window.sees("document.body.innerText.includes('is logged in as alice')"),
               lambda: f"no login: {window.evaluate('document.body.innerText')[:300]}")
        window.open(f"http://127.0.0.1:{sidecar.admin}/")
        expect(window.sees("!!document.getElementById('summary') && document.body.innerText.includes('alice')"),
               "the page does not say who logged in")
        call_api(sidecar)


CHECKS = {
    "login: in Chromium": in_chromium,
    "DPoP and PAR, both required": bound,
    "doctor": examined,
    "service account of Kubernetes": kubernetes,
    "issuer by another name (connect_to)": other_name,
    "one session, two daemons, ten commands": shared_under_load,
    "user disabled and enabled again": disabled_and_enabled,
    "administrator's sign-out": signed_out,
    "key rotation": keys_rotated,
    "restart of the provider": restarted,
}
