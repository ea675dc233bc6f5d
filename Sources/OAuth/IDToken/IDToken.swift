// SPDX-License-Identifier: Apache-2.0

package import Crypto
import JSON

/// An id token (OpenID Connect Core §2), taken apart; believe it only once ``IDTokenRules`` and its signature hold.
package struct IDToken: Sendable {
    package let issuer: String
    package let subject: String
    package let audience: [String]
    package let expiry: WallTime
    package let issuedAt: WallTime
    package let nonce: String?
    package let authorizedParty: String?
    package let accessTokenHash: String?
    /// The token as it came, for its signature.
    package let signed: JWS

    /// Takes a token apart.
    ///
    /// - Parameter compact: what somebody sent.
    /// - Throws: ``IDTokenError/malformed``, ``IDTokenError/missingClaim(_:)``; no input traps.
    package init(parsing compact: Secret) throws(IDTokenError) {
        guard let signed = compact.withPlaintext({ try? JWS(compact: $0) }), let claims = signed.claims else {
            throw .malformed
        }
        func string(_ claim: IDTokenClaim) -> String? {
            claims[claim.rawValue]?.string.flatMap { $0.isEmpty ? nil : $0 }
        }
        func moment(_ claim: IDTokenClaim) -> WallTime? {
            claims[claim.rawValue].flatMap(WallTime.init(numericDate:))
        }
        func require<Value>(_ claim: IDTokenClaim, _ value: Value?) throws(IDTokenError) -> Value {
            guard let value else { throw .missingClaim(claim.rawValue) }
            return value
        }
        issuer = try require(.issuer, string(.issuer))
        audience = try require(.audience, Self.audience(claims[IDTokenClaim.audience.rawValue]))
        subject = try require(.subject, string(.subject))
        expiry = try require(.expiry, moment(.expiry))
        issuedAt = try require(.issuedAt, moment(.issuedAt))
        nonce = string(.nonce)
        authorizedParty = string(.authorizedParty)
        accessTokenHash = string(.accessTokenHash)
        self.signed = signed
    }

    /// One name, or a list of names and nothing else.
    private static func audience(_ claim: JSONValue?) -> [String]? {
        if let name = claim?.string { return name.isEmpty ? nil : [name] }
        guard let list = claim?.array else { return nil }
        let names = list.compactMap(\.string)
        return names.isEmpty || names.count != list.count ? nil : names
    }
}

extension IDToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "[id token]" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension WallTime {
    /// A `NumericDate` (RFC 7519 §2), fractions cut; nil for what is no number.
    fileprivate init?(numericDate value: JSONValue) {
        guard let seconds = value.number, seconds.isFinite else { return nil }
        // Far from overflow, and no date that anybody means.
        self.init(secondsSinceEpoch: Int64(min(max(seconds, -1e12), 1e12)))
    }
}
