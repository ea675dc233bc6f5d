// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography
import BearerdJSONText

/// The rules by which a resource server judges access tokens that are JWTs (RFC 9068 §4, RFC 8725).
public struct AccessTokenRules: Sendable {
    /// The issuer, compared exactly; its metadata name the keys.
    public var issuer: String
    /// The resource server's own identifiers; a token must name one of them in `aud`.
    public var audience: Set<String>
    /// The accepted algorithms of signatures.
    ///
    /// Shared secrets are never accepted, whatever is in here.
    public var algorithms: Set<JWSAlgorithm> = [.rs256, .ps256, .es256, .edDSA]
    /// The accepted values of the header's `typ`, in lower case and without `application/`.
    ///
    /// Servers that do not keep to RFC 9068 write `jwt`, as they do for ID tokens; a token without `typ` counts as `jwt`.
    public var types: Set<String> = ["at+jwt"]
    /// How far the issuer's clock may be from this one.
    public var clockSkew: Duration = .seconds(60)
    /// The tokens that must be bound to the sender's key.
    public var senderConstraint = SenderConstraint.whereBound
    /// Where the keys are (RFC 7517 §5); nil for the `jwks_uri` of the issuer's metadata.
    public var keysURL: HTTPURL?
    /// The time limit of one request for metadata or keys.
    public var timeLimit: Duration = .seconds(10)

    /// Which tokens have to be bound to the sender's key or certificate.
    public enum SenderConstraint: Sendable {
        /// A bound token needs its proof, and others are accepted as they are.
        case whereBound
        /// Only bound tokens are accepted.
        case always
    }

    /// Rules for the tokens of an issuer that are meant for `audience`.
    public init(issuer: String, audience: String) {
        self.issuer = issuer
        self.audience = [audience]
    }

    /// Judges everything that can be judged without a key.
    ///
    /// - Throws: ``AccessTokenError/invalidToken(_:)`` for the first rule that is broken.
    func check(_ token: JWS, at now: WallTime) throws(AccessTokenError) -> VerifiedAccessToken {
        guard types.contains(Self.type(of: token)) else { throw .invalidToken(.type) }
        guard algorithms.intersection(JWSAlgorithm.asymmetric).contains(token.algorithm) else {
            throw .invalidToken(.algorithm)
        }
        guard let claims = token.claims else { throw .invalidToken(.malformed) }
        let verified = VerifiedAccessToken(claims)
        guard issuer.hasSameBytes(as: verified.issuer) else { throw .invalidToken(.issuer) }
        guard audience.contains(where: verified.audience.containsBytes) else {
            throw .invalidToken(.audience)
        }
        guard verified.expiry != nil else { throw .invalidToken(.noExpiry) }
        if let flaw = verified.lifetimeFlaw(at: now, clockSkew: clockSkew) { throw .invalidToken(flaw) }
        return verified
    }

    /// The `typ` of a header as RFC 7515 §4.1.9 compares it.
    private static func type(of token: JWS) -> String {
        let type = token.type?.lowercased() ?? "jwt"
        let prefix = "application/"
        return type.hasPrefix(prefix) ? String(type.dropFirst(prefix.count)) : type
    }
}
