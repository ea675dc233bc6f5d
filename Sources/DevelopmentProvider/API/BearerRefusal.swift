// SPDX-License-Identifier: Apache-2.0

import HTTPServer
import HTTPMessages
import JSON

/// Why a protected resource refuses a request (RFC 6750 §3.1).
enum BearerRefusal: Error, Equatable {
    /// There is no bearer token at all.
    case noToken
    /// The token is malformed, forged, expired, revoked, or somebody else's.
    case invalidToken(String)
    /// The token is good, but not for this.
    case insufficientScope(String)

    /// The answer, which names the reason and never the token.
    var reply: ServiceReply {
        var reply: ServiceReply
        var challenge = #"Bearer realm="development""#
        switch self {
        case .noToken:
            reply = .json(["error": "no_token"], status: 401)
        case .invalidToken(let reason):
            reply = .json(["error": "invalid_token", "error_description": .string(reason)], status: 401)
            challenge += #", error="invalid_token", error_description="\#(reason)""#
        case .insufficientScope(let scope):
            reply = .json(["error": "insufficient_scope", "scope": .string(scope)], status: 403)
            challenge += #", error="insufficient_scope", scope="\#(scope)""#
        }
        reply.head.fields[.wwwAuthenticate] = challenge
        return reply
    }
}
