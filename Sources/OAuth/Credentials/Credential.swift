// SPDX-License-Identifier: Apache-2.0

/// A secret of a client or its grant, read at each use.
public enum Credential: String, CaseIterable, Sendable {
    /// RFC 6749 §2.3.1.
    case clientSecret = "client_secret"
    /// The key that signs assertions, in PEM or JWK.
    case privateKey = "private_key"
    /// A ready-made JWT: the client's assertion, or with ``GrantType/jwtBearer`` the grant's.
    case assertion
    /// The certificate whose thumbprints assertions have, in PEM.
    case assertionCertificate = "assertion_certificate"
    /// The token for registrations (RFC 7591 §3).
    case initialAccessToken = "initial_access_token"
    /// RFC 6749 §4.3.
    case password
    /// RFC 8693 §2.1.
    case subjectToken = "subject_token"
    /// The access token itself, of the source `static`.
    case token
    /// The value of `X-IDENTITY-HEADER`, of the source `azure_identity`.
    case identityHeader = "identity_header"
}
