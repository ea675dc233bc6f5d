// SPDX-License-Identifier: Apache-2.0

/// A request method (RFC 9110 §9), case-sensitive; an open set.
///
/// Those that everybody knows are no texts, which would be counted and compared by each step of a request.
package enum HTTPMethod: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    case get, head, post, put, delete, connect, options, trace  // RFC 9110 §9.3
    case patch  // RFC 5789
    /// Any other; made by ``init(rawValue:)`` alone.
    case other(String)

    /// Takes any text; the parser accepts only tokens (RFC 9110 §5.6.2).
    package init(rawValue: String) {
        switch rawValue {
        case "GET": self = .get
        case "HEAD": self = .head
        case "POST": self = .post
        case "PUT": self = .put
        case "DELETE": self = .delete
        case "CONNECT": self = .connect
        case "OPTIONS": self = .options
        case "TRACE": self = .trace
        case "PATCH": self = .patch
        default: self = .other(rawValue)
        }
    }

    package var rawValue: String {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .delete: "DELETE"
        case .connect: "CONNECT"
        case .options: "OPTIONS"
        case .trace: "TRACE"
        case .patch: "PATCH"
        case .other(let name): name
        }
    }

    package var description: String { rawValue }

    /// True if sending it twice has the effect of sending it once (RFC 9110 §9.2.2).
    package var isIdempotent: Bool {
        switch self {
        case .get, .head, .put, .delete, .options, .trace: true
        default: false
        }
    }

    /// True if a request with a token must not be forwarded with it, in any case: TRACE and TRACK send the token back
    /// (RFC 9110 §9.3.8), CONNECT leaves HTTP (§9.3.6).
    package var isNeverForwarded: Bool {
        switch self {
        case .trace, .connect: true
        case .other(let name):
            // No other common method begins with these letters.
            switch name.utf8.first {
            case 0x43, 0x54, 0x63, 0x74: ["TRACE", "TRACK", "CONNECT"].contains(name.uppercased())
            default: false
            }
        default: false
        }
    }

    /// True for CONNECT in any case.
    package var isConnect: Bool { rawValue.uppercased() == "CONNECT" }
}
