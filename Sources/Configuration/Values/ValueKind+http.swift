// SPDX-License-Identifier: Apache-2.0

internal import HTTPMessages

extension ValueKind<HTTPFields.Name> {
    /// A field's name.
    static var fieldName: ValueKind {
        ValueKind { scalar throws(ValueError) in
            guard let name = HTTPFields.Name(scalar.text) else {
                throw ValueError("'\(scalar.written)' is not the name of a header")
            }
            return name
        }
    }
}

extension ValueKind<HTTPMethod> {
    /// A method that a route may forward.
    static var method: ValueKind {
        ValueKind { scalar throws(ValueError) in
            guard HTTPFields.Name(scalar.text) != nil else {
                throw ValueError("'\(scalar.written)' is not a method")
            }
            guard scalar.text == scalar.text.uppercased() else {
                throw ValueError("methods are upper-case: did you mean '\(scalar.text.uppercased())'?")
            }
            let method = HTTPMethod(rawValue: scalar.text)
            guard !method.isNeverForwarded else {
                throw ValueError("\(method) is never forwarded")
            }
            return method
        }
    }
}

extension ValueKind<String> {
    /// A token (RFC 9110 §5.6.2).
    static var token: ValueKind {
        text.map { text throws(ValueError) in
            // A field's name has the same grammar.
            guard HTTPFields.Name(text) != nil else {
                throw ValueError("is not a single word of an HTTP header")
            }
            return text
        }
    }

    /// A protocol to upgrade to, perhaps with its version (RFC 9110 §7.8).
    static var upgradeProtocol: ValueKind {
        text.map { text throws(ValueError) in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count <= 2, parts.allSatisfy({ HTTPFields.Name(String($0)) != nil }) else {
                throw ValueError("is not a protocol like websocket or IRC/6.9")
            }
            return text
        }
    }

    /// The beginning of a route: an absolute path that routing does not change.
    static var routePath: ValueKind {
        text.map { text throws(ValueError) in
            guard text.hasPrefix("/") else { throw ValueError("must begin with '/'") }
            guard !text.contains(where: { "?# ".contains($0) }) else {
                throw ValueError("must be a path alone, without spaces, '?' and '#'")
            }
            guard RequestPath.understanding(of: text.utf8.span).isAlways(Array(text.utf8)) else {
                throw ValueError(
                    "must be in its plain form, as in /api/v1: no '//', dot segments, ';', '\\' or needless percent-encoding"
                )
            }
            return text
        }
    }
}
