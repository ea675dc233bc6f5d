// SPDX-License-Identifier: Apache-2.0

/// A request method (RFC 9110 §9), case-sensitive; an open set.
package struct HTTPMethod: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The method as it stands on the wire.
    package let rawValue: String

    /// Takes any text; the parser lets only tokens (RFC 9110 §5.6.2) through.
    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    package var description: String { rawValue }

    /// Whether sending it twice has the effect of sending it once (RFC 9110 §9.2.2).
    package var isIdempotent: Bool {
        switch self {
        case .get, .head, .put, .delete, .options, .trace: true
        default: false
        }
    }

    /// Whether a request that gets a token must not go on with it, in whatever case the method is spelled: TRACE and
    /// TRACK send it back (RFC 9110 §9.3.8), CONNECT leaves HTTP (§9.3.6).
    package var isNeverForwarded: Bool {
        // No method that is in common use begins so.
        switch rawValue.utf8.first {
        case 0x43, 0x54, 0x63, 0x74: ["TRACE", "TRACK", "CONNECT"].contains(rawValue.uppercased())
        default: false
        }
    }

    /// Whether it is CONNECT, in whatever case.
    package var isConnect: Bool { rawValue.uppercased() == Self.connect.rawValue }
}

extension HTTPMethod {
    /// RFC 9110 §9.3.1.
    package static var get: HTTPMethod { HTTPMethod(rawValue: "GET") }
    /// RFC 9110 §9.3.2.
    package static var head: HTTPMethod { HTTPMethod(rawValue: "HEAD") }
    /// RFC 9110 §9.3.3.
    package static var post: HTTPMethod { HTTPMethod(rawValue: "POST") }
    /// RFC 9110 §9.3.4.
    package static var put: HTTPMethod { HTTPMethod(rawValue: "PUT") }
    /// RFC 9110 §9.3.5.
    package static var delete: HTTPMethod { HTTPMethod(rawValue: "DELETE") }
    /// RFC 9110 §9.3.6.
    package static var connect: HTTPMethod { HTTPMethod(rawValue: "CONNECT") }
    /// RFC 9110 §9.3.7.
    package static var options: HTTPMethod { HTTPMethod(rawValue: "OPTIONS") }
    /// RFC 9110 §9.3.8.
    package static var trace: HTTPMethod { HTTPMethod(rawValue: "TRACE") }
    /// RFC 5789.
    package static var patch: HTTPMethod { HTTPMethod(rawValue: "PATCH") }
}
