// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdJSON

/// The reason why a protected resource refuses a request (RFC 6750 §3.1, RFC 9449 §7.1).
enum BearerRefusal: Error, Equatable {
    /// The request has no token.
    case noToken
    /// The token is malformed, forged, expired, revoked, or another client's.
    case invalidToken(String, PresentedToken.Scheme = .bearer)
    /// The token may be valid, but its proof of possession is not.
    case invalidProof(String)
    /// The token is valid, but lacks the scope.
    case insufficientScope(String, PresentedToken.Scheme = .bearer)

    /// The answer, which names the reason and never the token.
    var reply: ServiceReply {
        var reply: ServiceReply
        let challenge: String
        switch self {
        case .noToken:
            reply = .json(["error": "no_token"], status: 401)
            challenge = Self.challenge(.bearer) + ", " + Self.challenge(.dpop)
        case .invalidToken(let reason, let scheme):
            reply = .json(["error": "invalid_token", "error_description": .string(reason)], status: 401)
            challenge = Self.challenge(scheme, error: "invalid_token", reason)
        case .invalidProof(let reason):
            reply = .json(["error": "invalid_dpop_proof", "error_description": .string(reason)], status: 401)
            challenge = Self.challenge(.dpop, error: "invalid_dpop_proof", reason)
        case .insufficientScope(let scope, let scheme):
            reply = .json(["error": "insufficient_scope", "scope": .string(scope)], status: 403)
            challenge = Self.challenge(scheme) + #", error="insufficient_scope", scope="\#(scope)""#
        }
        reply.head.fields[.wwwAuthenticate] = challenge
        return reply
    }

    private static func challenge(_ scheme: PresentedToken.Scheme, error: String, _ reason: String) -> String
    {
        challenge(scheme) + #", error="\#(error)", error_description="\#(reason)""#
    }

    private static func challenge(_ scheme: PresentedToken.Scheme) -> String {
        let algorithms = ProofVerifier.algorithms.map(\.rawValue).joined(separator: " ")
        return switch scheme {
        case .bearer: #"Bearer realm="development""#
        case .dpop: #"DPoP realm="development", algs="\#(algorithms)""#
        }
    }
}
