// SPDX-License-Identifier: Apache-2.0

/// Something that a client proves itself, or its grant, with; kept where it may change while we run.
///
/// Named as in the configuration, without `_file`.
public enum Credential: String, CaseIterable, Sendable {
    /// RFC 6749 §2.3.1.
    case clientSecret = "client_secret"
    /// PEM or JWK; signs assertions.
    case privateKey = "private_key"
    /// A JWT that somebody else signed: the client's assertion, or with `jwt_bearer` the grant's.
    case assertion
    /// PEM; assertions name it by its thumbprints.
    case assertionCertificate = "assertion_certificate"
    /// RFC 7591 §3: permits us to register.
    case initialAccessToken = "initial_access_token"
    /// RFC 6749 §4.3.
    case password
    /// RFC 8693 §2.1.
    case subjectToken = "subject_token"
}
