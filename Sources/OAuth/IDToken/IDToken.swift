// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
import BearerdJSON

/// The claims of an ID token (OpenID Connect Core §2), which only `IDTokenRules` and the signature make trustworthy.
public struct IDToken: Sendable {
    /// `iss`.
    public let issuer: String
    /// `sub`: the person, unique with this issuer.
    public let subject: String
    /// `aud`: the clients that the token is for.
    public let audience: [String]
    /// `exp`.
    public let expiry: WallTime
    /// `iat`.
    public let issuedAt: WallTime
    /// `nonce` of the authorization request.
    public let nonce: String?
    /// `azp`: the client that the token was issued to.
    public let authorizedParty: String?
    /// `at_hash`: the hash of the access token beside it.
    public let accessTokenHash: String?
    /// `auth_time`: when the person last authenticated.
    public let authenticationTime: WallTime?
    /// `acr`: how the person authenticated.
    public let authenticationContext: String?
    /// The token as received, with its signature.
    package let signed: JWS

    /// Parses a token.
    ///
    /// - Parameter compact: the token in compact serialization.
    /// - Throws: ``IDTokenError/malformed``, ``IDTokenError/missingClaim(_:)``; no input traps.
    package init(parsing compact: Secret) throws(IDTokenError) {
        guard let signed = compact.withPlaintext({ try? JWS(compact: $0) }), let claims = signed.claims else {
            throw .malformed
        }
        func string(_ claim: IDTokenClaim) -> String? {
            claims[claim.rawValue]?.string.flatMap { $0.isEmpty ? nil : $0 }
        }
        // A claim of another type must not pass for one that is not there.
        for claim in [IDTokenClaim.authorizedParty, .accessTokenHash] {
            guard let value = claims[claim.rawValue], value != .null else { continue }
            guard value.string != nil else { throw .malformed }
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

    /// A string, or an array of strings alone.
    private static func audience(_ claim: JSONValue?) -> [String]? {
        if let name = claim?.string { return name.isEmpty ? nil : [name] }
        guard let list = claim?.array else { return nil }
        let names = list.compactMap(\.string)
        return names.isEmpty || names.count != list.count ? nil : names
    }
}

extension IDToken: Redacted {
    /// A fixed text, which shows nothing of the contents.
    public var description: String { "[id token]" }
}

extension WallTime {
    /// A `NumericDate` (RFC 7519 §2) without its fraction; nil for anything but a number.
    init?(numericDate value: JSONValue) {
        guard let seconds = value.number, seconds.isFinite else { return nil }
        // Cut to avoid overflow; no real date is that far away.
        self.init(secondsSinceEpoch: Int64(min(max(seconds, -1e12), 1e12)))
    }
}

/// A claim of an ID token, spelled as on the wire (OpenID Connect Core §2).
enum IDTokenClaim: String {
    case issuer = "iss"
    case subject = "sub"
    case audience = "aud"
    case expiry = "exp"
    case issuedAt = "iat"
    case nonce
    case authorizedParty = "azp"
    case accessTokenHash = "at_hash"
    case authenticationTime = "auth_time"
    case authenticationContext = "acr"
}
