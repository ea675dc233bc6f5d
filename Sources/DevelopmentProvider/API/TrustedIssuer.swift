// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
package import BearerdJSON

/// An issuer whose access tokens an API accepts.
package struct TrustedIssuer: Sendable {
    /// The value of `iss`, which must be equal.
    package let issuer: String
    /// Returns the issuer's public keys; called for each request.
    package let keys: @Sendable () async -> JSONWebKeySet
    /// Returns true if a token with these claims was revoked, as far as the API can know.
    package let isRevoked: @Sendable (JSONObject) -> Bool

    package init(
        issuer: String, keys: @escaping @Sendable () async -> JSONWebKeySet,
        isRevoked: @escaping @Sendable (JSONObject) -> Bool = { _ in false }
    ) {
        self.issuer = issuer
        self.keys = keys
        self.isRevoked = isRevoked
    }
}
