# SPDX-License-Identifier: Apache-2.0
"""django-oauth-toolkit as a whole site in one file.

  django_server.py DIRECTORY SETTINGS.json

SETTINGS has `port`, `signing_key`, `username`, `password`, `lifetime` and `clients`. The database is in DIRECTORY.
"""

import json
import os
import sys
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import django
from django.conf import settings

DIRECTORY = sys.argv[1]
with open(sys.argv[2]) as file:
    WANTED = json.load(file)
BASE = f"http://localhost:{WANTED['port']}"

os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
SESSION = "django.contrib.sessions.middleware.SessionMiddleware"
AUTHENTICATION = "django.contrib.auth.middleware.AuthenticationMiddleware"
settings.configure(
    SECRET_KEY="not-a-real-key", ALLOWED_HOSTS=["localhost"], ROOT_URLCONF=__name__, USE_TZ=True,
    CSRF_TRUSTED_ORIGINS=[BASE], DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", STATIC_URL="/static/",
    LOGIN_URL="/admin/login/", PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(DIRECTORY, "db"),
                           "OPTIONS": {"timeout": 20}}},
    INSTALLED_APPS=[f"django.contrib.{name}" for name in ("admin", "auth", "contenttypes", "sessions", "messages")]
    + ["oauth2_provider"],
    MIDDLEWARE=[SESSION, "django.middleware.csrf.CsrfViewMiddleware", AUTHENTICATION,
                "django.contrib.messages.middleware.MessageMiddleware"],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True, "OPTIONS": {
        "context_processors": ["django.template.context_processors.request",
                               "django.contrib.auth.context_processors.auth",
                               "django.contrib.messages.context_processors.messages"]}}],
    OAUTH2_PROVIDER={
        "OIDC_ENABLED": True, "OIDC_RSA_PRIVATE_KEY": WANTED["signing_key"], "PKCE_REQUIRED": True,
        "SCOPES": {name: name for name in ("openid", "profile", "offline_access", "orders", "introspection")},
        "ACCESS_TOKEN_EXPIRE_SECONDS": WANTED["lifetime"], "REFRESH_TOKEN_EXPIRE_SECONDS": 3600,
        "ROTATE_REFRESH_TOKEN": True, "REFRESH_TOKEN_REUSE_PROTECTION": True, "ALLOWED_SCHEMES": ["http", "https"],
        "OIDC_RP_INITIATED_LOGOUT_ENABLED": True, "OIDC_RP_INITIATED_LOGOUT_ALWAYS_PROMPT": False,
        "OAUTH_DEVICE_VERIFICATION_URI": f"{BASE}/o/device/", "DEVICE_FLOW_INTERVAL": 1,
        "OAUTH_DEVICE_VERIFICATION_URI_COMPLETE": lambda code: f"{BASE}/o/device/?user_code={code}",
        "DCR_ENABLED": True, "DCR_REGISTRATION_PERMISSION_CLASSES": ("oauth2_provider.dcr.AllowAllDCRPermission",),
        "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
    })
django.setup()

from django.contrib import admin  # noqa: E402  (Django wants to be set up before it is used)
from django.contrib.auth import get_user_model  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.urls import include, path  # noqa: E402
from oauth2_provider.models import get_application_model  # noqa: E402
from oauth2_provider.urls import metadata_urlpatterns  # noqa: E402

urlpatterns = [
    path("admin/", admin.site.urls),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
    path("", include((metadata_urlpatterns, "metadata"))),
]


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Handler(WSGIRequestHandler):
    def log_message(self, pattern, *arguments):
        sys.stderr.write(pattern % arguments + "\n")


def main():
    call_command("migrate", verbosity=0)
    # A superuser, because the login page is that of Django's administration.
    get_user_model().objects.create_superuser(WANTED["username"], "alice@example.test", WANTED["password"])
    for client in WANTED["clients"]:
        get_application_model().objects.create(skip_authorization=True, hash_client_secret=True, **client)
    make_server("127.0.0.1", WANTED["port"], get_wsgi_application(), server_class=Server,
                handler_class=Handler).serve_forever()


if __name__ == "__main__":
    main()
