// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography

/// Why a resource server refuses a request, or cannot judge it.
public enum AccessTokenError: ExplainedError, Equatable, Sendable {
    /// There is no token (RFC 6750 §3.1: the challenge has no `error` then).
    case missing
    /// The request carries several tokens, or something that cannot be one.
    case invalidRequest
    /// The token is not valid.
    case invalidToken(Flaw)
    /// The token is valid and lacks one of these scope tokens.
    case insufficientScope([String])
    /// The proof of possession is missing or not valid (RFC 9449 §4.3).
    case invalidProof(ProofFlaw)
    /// The issuer's keys cannot be had, or no more proofs can be remembered: nothing is known of the token.
    case unavailable(TokenFailure)

    /// The rule that a token breaks.
    public enum Flaw: String, Sendable {
        /// It is no signed JSON object.
        case malformed = "the token is no signed JWT"
        /// Its `typ` is not accepted.
        case type = "the token's typ is not accepted"
        /// Its `alg` is not accepted.
        case algorithm = "the token's alg is not accepted"
        /// Its `iss` is another one.
        case issuer = "the token is of another issuer"
        /// Its `aud` does not name this resource server.
        case audience = "the token is for another audience"
        /// It has no `exp`.
        case noExpiry = "the token has no exp"
        /// Its `exp` is over.
        case expired = "the token has expired"
        /// Its `nbf` is to come.
        case notYetValid = "the token is not valid yet"
        /// No published key made its signature.
        case signature = "the token's signature does not verify"
        /// It is bound to a key or certificate, and was sent without; or it is not bound, and has to be.
        case binding = "the token's binding does not fit the request"
    }

    /// The rule that a proof of possession breaks.
    public enum ProofFlaw: String, Sendable {
        /// There is none, or more than one.
        case count = "exactly one DPoP proof is needed"
        /// It is no JWT of the type `dpop+jwt` with a public key of its own.
        case malformed = "the DPoP proof is malformed"
        /// Its `alg` is not accepted.
        case algorithm = "the DPoP proof's alg is not accepted"
        /// Its own key did not sign it.
        case signature = "the DPoP proof's signature does not verify"
        /// It is for another method or URL.
        case request = "the DPoP proof is for another request"
        /// It is for another token.
        case token = "the DPoP proof is for another token"
        /// Its `iat` is too far from now.
        case age = "the DPoP proof is too old or too new"
        /// It was shown before.
        case repeated = "the DPoP proof was used before"
    }

    /// The status to answer with.
    public var status: Int {
        switch self {
        case .missing, .invalidToken, .invalidProof: 401
        case .invalidRequest: 400
        case .insufficientScope: 403
        case .unavailable: 503
        }
    }

    /// The value of `WWW-Authenticate` to answer with (RFC 6750 §3, RFC 9449 §7.1); nil if the token is not to blame.
    ///
    /// - Parameters:
    ///   - realm: the protection space; printable ASCII without quotes and backslashes.
    ///   - algorithms: the `alg`s of proofs that are accepted, for clients that have keys.
    public func challenge(
        realm: String? = nil, algorithms: Set<JWSAlgorithm> = AccessTokenVerifier.proofAlgorithms
    ) -> String? {
        var parameters = realm.map { ["realm=\"\($0)\""] } ?? []
        var scheme = "Bearer"
        func add(_ name: String, _ value: String) { parameters.append("\(name)=\"\(value)\"") }
        switch self {
        case .unavailable:
            return nil
        case .missing:
            break
        case .invalidRequest:
            add("error", "invalid_request")
        case .invalidToken(let flaw):
            add("error", "invalid_token")
            add("error_description", flaw.rawValue)
        case .insufficientScope(let scope):
            add("error", "insufficient_scope")
            add("scope", scope.joined(separator: " "))
        case .invalidProof(let flaw):
            scheme = "DPoP"
            add("error", "invalid_dpop_proof")
            add("error_description", flaw.rawValue)
            add("algs", algorithms.map(\.rawValue).sorted().joined(separator: " "))
        }
        return parameters.isEmpty ? scheme : "\(scheme) \(parameters.joined(separator: ", "))"
    }
}

extension AccessTokenError {
    /// One sentence for people, without a byte of the token.
    public var sentence: String {
        switch self {
        case .missing: "the request carries no access token"
        case .invalidRequest: "the request carries several access tokens, or something that is none"
        case .invalidToken(let flaw): flaw.rawValue
        case .insufficientScope(let scope): "the token lacks the scope \(scope.joined(separator: " "))"
        case .invalidProof(let flaw): flaw.rawValue
        case .unavailable(let failure): "the token cannot be judged: \(failure.sentence)"
        }
    }
}
