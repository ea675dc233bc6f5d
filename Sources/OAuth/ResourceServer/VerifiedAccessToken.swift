// SPDX-License-Identifier: Apache-2.0

package import BearerdJSON

/// The claims of an access token that a resource server has verified (RFC 9068 §2.2, RFC 7662 §2.2).
public struct VerifiedAccessToken: Sendable {
    /// `iss`.
    public let issuer: String?
    /// `sub`: the person, or the client where no person takes part.
    public let subject: String?
    /// `client_id`, else `azp` or `cid`, which some servers write instead: the client that the token was issued to.
    public let clientID: String?
    /// `aud`: the resource servers that the token is for.
    public let audience: [String]
    /// `scope`, else `scp`: the scope tokens.
    public let scope: [String]
    /// `exp`.
    public let expiry: WallTime?
    /// `nbf`.
    public let notBefore: WallTime?
    /// `iat`.
    public let issuedAt: WallTime?
    /// `jti`.
    public let identifier: String?
    /// The key or certificate that the token is bound to (`cnf`, RFC 7800 §3.1); nil for a bearer token.
    public let confirmation: TokenConfirmation?
    /// Every claim.
    package let claims: JSONObject

    /// Reads claims; one of the wrong type counts as missing, but `cnf`, which then fits no key, and `nbf`, which never comes.
    init(_ claims: JSONObject) {
        func string(_ names: String...) -> String? {
            names.lazy.compactMap { claims[$0]?.string }.first { !$0.isEmpty }
        }
        func moment(_ name: String) -> WallTime? { claims[name].flatMap(WallTime.init(numericDate:)) }
        func words(_ value: JSONValue?) -> [String] {
            value?.string.map { $0.split(separator: " ").map(String.init) }
                ?? value?.array?.compactMap(\.string) ?? []
        }
        issuer = string("iss")
        subject = string("sub")
        clientID = string("client_id", "azp", "cid")
        audience = claims.strings("aud")
        scope = words(claims["scope"] ?? claims["scp"])
        expiry = moment("exp")
        notBefore = moment("nbf")
        issuedAt = moment("iat")
        identifier = string("jti")
        confirmation = claims["cnf"].map(TokenConfirmation.init)
        self.claims = claims
    }

    /// The claim of this name if it is a string; nil otherwise.
    public subscript(claim: String) -> String? { claims[claim]?.string }

    /// A claim that is an array of strings, such as `groups`; a single string counts as one.
    public func strings(_ claim: String) -> [String] { claims.strings(claim) }

    /// Why the token is of no use at `now`, with clocks that differ by `clockSkew`; nil if it is of use.
    func lifetimeFlaw(at now: WallTime, clockSkew: Duration) -> AccessTokenError.Flaw? {
        if let expiry, now - expiry >= clockSkew { return .expired }
        if let notBefore { return notBefore - now > clockSkew ? .notYetValid : nil }
        // One that is no number (RFC 7519 §4.1.5) may be any moment.
        return claims["nbf"].map { $0 != .null } ?? false ? .notYetValid : nil
    }

    /// All claims as one JSON object.
    public var json: String { String(decoding: claims.serialized(), as: UTF8.self) }
}

extension VerifiedAccessToken: Redacted {
    /// A fixed text, which shows nothing of the contents.
    public var description: String { "[access token]" }
}

/// The key or certificate that a token is bound to (`cnf`, RFC 7800 §3.1).
public enum TokenConfirmation: Equatable, Sendable {
    /// The RFC 7638 thumbprint of a DPoP key (`jkt`, RFC 9449 §6.1).
    case key(thumbprint: String)
    /// The SHA-256 thumbprint of a client certificate in base64url (`x5t#S256`, RFC 8705 §3.1).
    case certificate(thumbprint: String)
    /// A confirmation that is not known here, or several: nobody can prove it.
    case unknown

    init(_ claim: JSONValue) {
        guard let members = claim.object, members.count == 1 else {
            self = .unknown
            return
        }
        if let thumbprint = members["jkt"]?.string {
            self = .key(thumbprint: thumbprint)
        } else if let thumbprint = members["x5t#S256"]?.string {
            self = .certificate(thumbprint: thumbprint)
        } else {
            self = .unknown
        }
    }
}
