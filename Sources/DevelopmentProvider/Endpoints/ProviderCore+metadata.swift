// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON
import OAuth

extension ProviderCore {
    /// The metadata of OpenID Connect Discovery §3, RFC 8414 §2, RFC 9126 §5 and RFC 9449 §5.1.
    var metadata: JSONObject {
        let authentication: JSONValue = .strings(
            [ClientAuthentication.basic, .post, .none].map(\.rawValue))
        let grants: [GrantType] = [.authorizationCode, .refreshToken, .clientCredentials, .deviceCode]
        return [
            "issuer": .string(settings.issuer),
            "authorization_endpoint": url(.authorize),
            "token_endpoint": url(.token),
            "userinfo_endpoint": url(.userinfo),
            "pushed_authorization_request_endpoint": url(.pushedAuthorizationRequest),
            "jwks_uri": url(.jwks),
            "revocation_endpoint": url(.revoke),
            "end_session_endpoint": url(.endSession),
            "device_authorization_endpoint": url(.deviceAuthorization),
            "scopes_supported": ["openid", "profile", "email", "offline_access"],
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": .strings(grants.map(\.rawValue)),
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": .strings([key.algorithm.rawValue]),
            "token_endpoint_auth_methods_supported": authentication,
            "revocation_endpoint_auth_methods_supported": authentication,
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": true,
            "dpop_signing_alg_values_supported": .strings(ProofVerifier.algorithms.map(\.rawValue)),
            "claims_supported": [
                "sub", "name", "preferred_username", "email", "email_verified", "auth_time",
            ],
        ]
    }

    private func url(_ endpoint: ProviderEndpoint) -> JSONValue {
        .string(settings.issuer + endpoint.rawValue)
    }
}
