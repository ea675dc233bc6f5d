// SPDX-License-Identifier: Apache-2.0

/// The method of client authentication (`token_endpoint_auth_method`, RFC 7591 §2).
public enum ClientAuthentication: String, CaseIterable, Sendable {
    /// A public client: `client_id` alone, in the body.
    case none = "none"
    /// HTTP Basic (RFC 6749 §2.3.1), encoded by ``BasicEncoding``.
    case basic = "client_secret_basic"
    /// `client_id` and `client_secret` in the body (RFC 6749 §2.3.1).
    case post = "client_secret_post"
    /// An assertion signed with the secret (OpenID Connect Core §9).
    case clientSecretJWT = "client_secret_jwt"
    /// An assertion signed with a private key, or one from a file (RFC 7523 §2.2).
    case privateKeyJWT = "private_key_jwt"
    /// A TLS client certificate of an authority that the server trusts (RFC 8705 §2.1).
    case tlsClientAuth = "tls_client_auth"
    /// A self-signed TLS client certificate that the server knows (RFC 8705 §2.2).
    case selfSignedTLSClientAuth = "self_signed_tls_client_auth"
}
