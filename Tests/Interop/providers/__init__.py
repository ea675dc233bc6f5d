# SPDX-License-Identifier: Apache-2.0
"""The providers, the slowest first."""

from providers.django_oauth_toolkit import DjangoOAuthToolkit
from providers.glewlwyd import Glewlwyd
from providers.idpyoidc import IdPyOIDC
from providers.keycloak import Keycloak
from providers.nanoidp import NanoIDP

PROVIDERS = [Keycloak, Glewlwyd, NanoIDP, DjangoOAuthToolkit, IdPyOIDC]
