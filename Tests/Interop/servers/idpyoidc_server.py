# SPDX-License-Identifier: Apache-2.0
"""idpyoidc's server classes behind an HTTP listener, and a login form: the protocol is all theirs.

  idpyoidc_server.py DIRECTORY SETTINGS.json

SETTINGS has `port`, `username`, `password`, `lifetime` and `clients`, each with an optional public `jwk`.
"""

import json
import logging
import os
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from idpyoidc.message.oauth2 import ResponseMessage
from idpyoidc.message.oidc import AuthorizationRequest
from idpyoidc.server import Server
from idpyoidc.server.configure import OPConfiguration
from idpyoidc.server.exception import ClientAuthenticationError
from idpyoidc.server.oauth2.token_helper import validate_token_exchange_policy
from idpyoidc.server.user_authn.authn_context import INTERNETPROTOCOLPASSWORD

DIRECTORY = sys.argv[1]
with open(sys.argv[2]) as file:
    WANTED = json.load(file)
ISSUER = f"http://localhost:{WANTED['port']}"
METHODS = ["client_secret_basic", "client_secret_post", "client_secret_jwt", "private_key_jwt"]
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
TOKEN_TYPES = [f"urn:ietf:params:oauth:token-type:{kind}_token" for kind in ("access", "refresh")]
GRANTS = ["authorization_code", "refresh_token", "client_credentials", EXCHANGE]
SCOPES = ["openid", "profile", "offline_access"]
FORM = """<html><body><form action="{{action}}" method="post"><input type="hidden" name="token" value="{{token}}">
<input name="username"><input name="password" type="password"><input type="submit" value="Log in"></form></body></html>
"""


def secrets(*names):
    """Symmetric keys for what the server seals for itself."""
    return {"kwargs": {"keys": {"key_defs": [{"type": "OCT", "use": ["enc"], "kid": name} for name in names]},
                       "iterations": 1}}


def endpoint(path, name, **arguments):
    return {"path": path, "class": f"idpyoidc.server.{name}", "kwargs": arguments}


def configuration():
    """The server's configuration; a dictionary of class names, as the library has it."""
    token = "idpyoidc.server.token.jwt_token.JWTToken"
    helper = "idpyoidc.server.{}.token_helper.{}"
    lifetime = WANTED["lifetime"]
    exchange = {
        "subject_token_types_supported": TOKEN_TYPES, "requested_token_types_supported": TOKEN_TYPES,
        "policy": {"": {"function": validate_token_exchange_policy, "kwargs": {"scope": SCOPES}}}}
    helpers = {
        "authorization_code": {"class": helper.format("oidc", "access_token.AccessTokenHelper")},
        "refresh_token": {"class": helper.format("oidc", "refresh_token.RefreshTokenHelper")},
        "client_credentials": {"class": helper.format("oauth2", "client_credentials.ClientCredentials")},
        EXCHANGE: {"class": helper.format("oidc", "token_exchange.TokenExchangeHelper"), "kwargs": exchange}}
    return {
        "issuer": ISSUER, "base_url": ISSUER, "httpc_params": {"verify": False},
        "template_dir": os.path.join(DIRECTORY, "templates"),
        "preference": {"subject_types_supported": ["public"], "grant_types_supported": GRANTS},
        "key_conf": {"key_defs": [{"type": "RSA", "use": ["sig"]}, {"type": "EC", "crv": "P-256", "use": ["sig"]}],
                     "uri_path": "jwks"},
        "token_handler_args": {
            "key_conf": {"key_defs": [{"type": "RSA", "use": ["sig"]},
                                      {"type": "oct", "bytes": 24, "use": ["enc"], "kid": "code"}]},
            "code": {"lifetime": 600, "kwargs": {"crypt_conf": secrets("password", "salt")}},
            "token": {"class": token, "kwargs": {"lifetime": lifetime, "aud": ["https://orders.example.test"]}},
            "refresh": {"class": token, "kwargs": {"lifetime": 86400, "aud": [ISSUER]}},
            "id_token": {"class": "idpyoidc.server.token.id_token.IDToken", "kwargs": {}}},
        "authz": {"class": "idpyoidc.server.authz.AuthzHandling", "kwargs": {"grant_config": {"usage_rules": {
            "authorization_code": {"supports_minting": ["access_token", "refresh_token", "id_token"], "max_usage": 1},
            "access_token": {"supports_minting": ["access_token", "refresh_token"], "expires_in": lifetime},
            "refresh_token": {"supports_minting": ["access_token", "refresh_token", "id_token"],
                              "expires_in": 86400}}, "expires_in": 43200}}},
        "session_params": {"encrypter": secrets("password", "salt")},
        "endpoint": {
            "provider_config": endpoint(".well-known/openid-configuration",
                                        "oidc.provider_config.ProviderConfiguration", client_authn_method=None),
            "authorization": endpoint("authorization", "oidc.authorization.Authorization", client_authn_method=None,
                                      response_types_supported=["code"], response_modes_supported=["query"]),
            "token": endpoint("token", "oidc.token.Token", client_authn_method=METHODS, new_refresh_token=True,
                              revoke_refresh_on_issue=True, grant_types_helpers=helpers),
            "introspection": endpoint("introspection", "oauth2.introspection.Introspection",
                                      client_authn_method=METHODS, release=["username"]),
            "revocation": endpoint("revocation", "oauth2.token_revocation.TokenRevocation",
                                   client_authn_method=METHODS),
            "userinfo": endpoint("userinfo", "oidc.userinfo.UserInfo", client_authn_method=["bearer_header"])},
        "userinfo": {"class": "idpyoidc.server.user_info.UserInfo", "kwargs": {
            "db": {WANTED["username"]: {"sub": WANTED["username"], "name": "Alice Example"}}}},
        "authentication": {"user": {
            "acr": INTERNETPROTOCOLPASSWORD, "class": "idpyoidc.server.user_authn.user.UserPassJinja2", "kwargs": {
                "verify_endpoint": "verify/user", "template": "login.jinja2", "db": {
                    "class": "idpyoidc.server.util.JSONDictDB", "kwargs": {"filename": "passwords.json"}}}}},
        "add_on": {"pkce": {"function": "idpyoidc.server.oauth2.add_on.pkce.add_support",
                            "kwargs": {"essential": False, "code_challenge_method": "S256"}}},
    }


def make_server():
    os.makedirs("templates")
    with open("templates/login.jinja2", "w") as file:
        file.write(FORM)
    with open("passwords.json", "w") as file:
        json.dump({WANTED["username"]: WANTED["password"]}, file)
    server = Server(OPConfiguration(configuration(), base_path=DIRECTORY), cwd=DIRECTORY)
    context = server.get_context()
    for client in WANTED["clients"]:
        name = client["client_id"]
        if key := client.pop("jwk", None):
            context.keyjar.import_jwks({"keys": [key]}, name)
        else:
            context.keyjar.add_symmetric(name, client["client_secret"])
        context.cdb[name] = {
            **client, "redirect_uris": [(uri, "") for uri in client["redirect_uris"]],
            "response_types_supported": ["code"], "grant_types_supported": GRANTS, "allowed_scopes": SCOPES,
            "client_salt": "salt"}
    return server


class Handler(BaseHTTPRequestHandler):
    """Carries requests to the library's endpoints and their answers back, one at a time."""

    protocol_version = "HTTP/1.1"
    server_version = "interop"
    turn = threading.Lock()
    provider = None

    def do_GET(self):
        with self.turn:
            try:
                self.serve()
            except ClientAuthenticationError as error:
                self.answer(401, {"error": "invalid_client", "error_description": str(error)})
            except Exception as error:  # the library's way to say no
                logging.exception("request")
                is_resource = "userinfo" in self.path
                self.answer(401 if is_resource else 400, {
                    "error": "invalid_token" if is_resource else "invalid_request", "error_description": str(error)})

    do_POST = do_GET

    def log_message(self, pattern, *arguments):
        logging.info(pattern, *arguments)

    def answer(self, status, body=b"", headers=()):
        if not isinstance(body, (bytes, str)):
            body, headers = json.dumps(body), [("Content-Type", "application/json"), *headers]
        body = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def serve(self):
        address = urllib.parse.urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        form = dict(urllib.parse.parse_qsl(self.rfile.read(length).decode()))
        if address.path == "/jwks":
            return self.answer(200, self.provider.get_context().keyjar.export_jwks())
        if address.path.startswith("/verify/user"):
            return self.verify(form)
        endpoints = {"/" + each.endpoint_path.lstrip("/"): each for each in self.provider.get_endpoints().values()}
        chosen = endpoints.get(address.path)
        if chosen is None:
            return self.answer(404, {"error": "not_found"})
        headers = {name.lower(): value for name, value in self.headers.items() if name.lower() != "cookie"}
        about = {"headers": headers, "method": self.command, "url": ISSUER + address.path, "cookie": []}
        query = dict(urllib.parse.parse_qsl(address.query))
        request = chosen.parse_request(query if self.command == "GET" else form, http_info=about)
        if isinstance(request, ResponseMessage) and "error" in request:
            is_client = request["error"] in ("invalid_client", "unauthorized_client")
            return self.answer(401 if is_client else 400, request.to_dict())
        outcome = chosen.process_request(request, http_info=about)
        if isinstance(outcome, ResponseMessage) and "error" in outcome:
            return self.answer(400, outcome.to_dict())
        return self.finish(chosen, request, outcome)

    def verify(self, form):
        """The login form came back."""
        method = self.provider.get_context().authn_broker.get_method_by_id("user")
        user = method.verify(**form)
        begun = method.unpack_token(form["token"])
        request = AuthorizationRequest().from_urlencoded(begun["query"])
        authorization = self.provider.get_endpoint("authorization")
        session = authorization.create_session(request, user, begun["authn_class_ref"], begun["iat"], method)
        self.finish(authorization, request, authorization.authz_part2(request=request, session_id=session))

    def finish(self, chosen, request, outcome):
        if "redirect_location" in outcome:
            return self.answer(302, headers=[("Location", outcome["redirect_location"])])
        if "http_response" in outcome:
            return self.answer(200, outcome["http_response"], [("Content-Type", "text/html")])
        made = chosen.do_response(request=request, **outcome)
        if made.get("response_placement", chosen.response_placement) == "url":
            return self.answer(302, headers=[("Location", made["response"])])
        return self.answer(made.get("response_code", 200), made["response"], made.get("http_headers", []))


if __name__ == "__main__":
    os.chdir(DIRECTORY)
    logging.basicConfig(level=logging.INFO)
    Handler.provider = make_server()
    ThreadingHTTPServer(("127.0.0.1", WANTED["port"]), Handler).serve_forever()
