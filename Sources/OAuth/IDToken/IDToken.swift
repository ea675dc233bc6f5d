// SPDX-License-Identifier: Apache-2.0

package import Cryptography
import JSON

/// An id token (OpenID Connect Core §2), taken apart; believe it only once `IDTokenRules` and its signature hold.
public struct IDToken: Sendable {
    /// `iss`: who says so.
    public let issuer: String
    /// `sub`: the person, unique with this issuer.
    public let subject: String
    /// `aud`: the clients that it is for.
    public let audience: [String]
    /// `exp`.
    public let expiry: WallTime
    /// `iat`.
    public let issuedAt: WallTime
    /// What the authorization request had under this name.
    public let nonce: String?
    /// `azp`: the client that it was issued to.
    public let authorizedParty: String?
    /// `at_hash`: binds it to the access token that came along.
    public let accessTokenHash: String?
    /// `auth_time`: when the person last proved who they are.
    public let authenticationTime: WallTime?
    /// `acr`: how they did.
    public let authenticationContext: String?
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
        authenticationTime = moment(.authenticationTime)
        authenticationContext = string(.authenticationContext)
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
    /// Says what it is, and nothing of what is in it.
    public var description: String { "[id token]" }
    /// Says no more than `description`.
    public var debugDescription: String { description }
    /// Shows nothing of what is in it.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension WallTime {
    /// A `NumericDate` (RFC 7519 §2), fractions cut; nil for what is no number.
    fileprivate init?(numericDate value: JSONValue) {
        guard let seconds = value.number, seconds.isFinite else { return nil }
        // Far from overflow, and no date that anybody means.
        self.init(secondsSinceEpoch: Int64(min(max(seconds, -1e12), 1e12)))
    }
}
