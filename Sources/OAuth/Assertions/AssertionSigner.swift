// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON

/// Signs assertions (RFC 7523 §3): short-lived, each with a `jti` of its own.
struct AssertionSigner {
    /// Keycloak refuses a longer lifetime.
    private static let lifetimeSeconds: Int64 = 60

    /// The key that signs.
    enum Key {
        /// `client_secret_jwt`: HS256 with the client's secret.
        case secret(Secret)
        /// A private key, and the certificate whose thumbprints the header has.
        case pair(PrivateKey, Certificate?)

        /// The credential that the key comes from.
        var credential: Credential {
            switch self {
            case .secret: .clientSecret
            case .pair: .privateKey
            }
        }
    }

    let key: Key
    let settings: AssertionSettings

    /// A signed assertion with `iss`, `sub`, `aud` and further claims, issued at `wall`.
    ///
    /// - Throws: ``JOSEError``.
    func assertion(
        issuer: String, subject: String, audience: String, claims: JSONObject = JSONObject(),
        at wall: WallTime
    ) throws(JOSEError) -> Secret {
        let now = wall.secondsSinceEpoch
        var payload = claims
        func put(_ claim: AssertionClaim, _ value: JSONValue) { payload[claim.rawValue] = value }
        put(.issuer, .string(issuer))
        put(.subject, .string(subject))
        put(.audience, .string(audience))
        put(.issuedAt, .integer(now))
        put(.expiry, .integer(now + Self.lifetimeSeconds))
        put(.identifier, .string(SecureRandom.word(bytes: 16)))
        switch key {
        case .secret(let secret):
            return Secret(try SigningKey(secret: secret).sign(payload.serialized()))
        case .pair(let key, let certificate):
            return Secret(
                try key.sign(payload, algorithm: settings.algorithm, header: header(key, certificate)))
        }
    }

    private func header(_ key: PrivateKey, _ certificate: Certificate?) -> JSONObject {
        var header = JSONObject()
        header["kid"] = (settings.keyID ?? key.keyID).map(JSONValue.string)
        header["x5t"] = certificate.map { .string($0.thumbprint) }
        header["x5t#S256"] = certificate.map { .string($0.thumbprintSHA256) }
        return header
    }
}

/// A claim of an assertion, spelled as on the wire (RFC 7523 §3); none may be configured.
package enum AssertionClaim: String, CaseIterable, Sendable {
    case issuer = "iss"
    case subject = "sub"
    case audience = "aud"
    case expiry = "exp"
    case notBefore = "nbf"
    case issuedAt = "iat"
    case identifier = "jti"
}
