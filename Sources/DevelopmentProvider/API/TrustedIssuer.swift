// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
package import BearerdJSON

/// An issuer whose access tokens an API takes.
package struct TrustedIssuer: Sendable {
    /// `iss`, compared as a whole.
    package let issuer: String
    /// The issuer's public keys; asked for at each request.
    package let keys: @Sendable () async -> JSONWebKeySet
    /// Whether a token with these claims was revoked, as far as the API can know.
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
