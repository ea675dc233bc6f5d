// SPDX-License-Identifier: Apache-2.0

package import Crypto
package import JSON

/// How the client makes assertions: those that prove itself, and those that are its grant (RFC 7523 §2).
package struct AssertionSettings: Equatable, Sendable {
    /// Whom they are meant for.
    package enum Audience: Equatable, Sendable {
        /// The token endpoint's URL, which every server takes that was tried.
        case tokenEndpoint
        /// The issuer.
        case issuer
        /// A value of the configuration's own.
        case value(String)
    }

    package var audience = Audience.tokenEndpoint
    /// `kid`; nil for the key's own.
    package var keyID: String?
    /// nil for the key's own.
    package var algorithm: JWSAlgorithm?
    /// `sub` of a grant; nil for the client itself.
    package var subject: String?
    /// Further claims of a grant.
    package var claims = JSONObject()

    package init() {}
}
