// SPDX-License-Identifier: Apache-2.0

/// A request method (RFC 9110 §9), case-sensitive; an open set.
package struct HTTPMethod: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: String

    /// Takes any text; the parser accepts only tokens (RFC 9110 §5.6.2).
    package init(rawValue: String) { self.rawValue = rawValue }

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
        // No other common method begins with these letters.
        switch rawValue.utf8.first {
        case 0x43, 0x54, 0x63, 0x74: ["TRACE", "TRACK", "CONNECT"].contains(rawValue.uppercased())
        default: false
        }
    }

    /// True for CONNECT in any case.
    package var isConnect: Bool { rawValue.uppercased() == Self.connect.rawValue }
}

extension HTTPMethod {
    package static var get: HTTPMethod { HTTPMethod(rawValue: "GET") }  // RFC 9110 §9.3.1
    package static var head: HTTPMethod { HTTPMethod(rawValue: "HEAD") }  // RFC 9110 §9.3.2
    package static var post: HTTPMethod { HTTPMethod(rawValue: "POST") }  // RFC 9110 §9.3.3
    package static var put: HTTPMethod { HTTPMethod(rawValue: "PUT") }  // RFC 9110 §9.3.4
    package static var delete: HTTPMethod { HTTPMethod(rawValue: "DELETE") }  // RFC 9110 §9.3.5
    package static var connect: HTTPMethod { HTTPMethod(rawValue: "CONNECT") }  // RFC 9110 §9.3.6
    package static var options: HTTPMethod { HTTPMethod(rawValue: "OPTIONS") }  // RFC 9110 §9.3.7
    package static var trace: HTTPMethod { HTTPMethod(rawValue: "TRACE") }  // RFC 9110 §9.3.8
    package static var patch: HTTPMethod { HTTPMethod(rawValue: "PATCH") }  // RFC 5789
}
