# SPDX-License-Identifier: Apache-2.0
"""What happens to a session in the life of a Keycloak: many users of one session, administrators, restarts."""

import os
import threading
import time

from checks import call_api, served
from cluster import Cluster
from sidecar import EXIT_PERMISSION
from support import expect, wait_until

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
        answer = wait_until(lambda: (answer := sidecar.call()).status == 503 and answer, "503", seconds=15)
        expect(answer.json["code"] == "login_required", f"the code is {answer.json['code']}")
        expect(answer.headers.get("Retry-After"), "no Retry-After")
        case.login(sidecar)
        wait_until(lambda: sidecar.call().status == 200, "the daemon uses the new login", seconds=2)


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
        case.provider.process.stop()
        call_api(service)  # its token is good for a minute
        answer = wait_until(lambda: (answer := person.call()).status == 503 and answer, "503", seconds=15)
        expect(answer.json["code"] == "idp_unavailable", f"the code is {answer.json['code']}")
        case.provider.boot()
        wait_until(lambda: person.call().json.get("code") == "login_required", "login_required", seconds=45)
        case.login(person)
        wait_until(lambda: person.call().status == 200, "the daemon uses the new login", seconds=2)
        service.command("refresh").must_be()
        wait_until(lambda: service.call().status == 200, "the service's new token", seconds=5)


def other_name(case):
    """The issuer has a name that leads nowhere from here; `connect_to` says where it really is."""
    served(case.sidecar({
        **case.provider.identities()["client_credentials"], "issuer": case.provider.issuers[1],
        "connect_to": f"localhost:{case.provider.port}"}))



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


CHECKS = {
    "service account of Kubernetes": kubernetes,
    "issuer by another name (connect_to)": other_name,
    "one session, two daemons, ten commands": shared_under_load,
    "user disabled and enabled again": disabled_and_enabled,
    "administrator's sign-out": signed_out,
    "key rotation": keys_rotated,
    "restart of the provider": restarted,
}
