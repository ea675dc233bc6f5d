// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

extension ValueKind<HTTPFields.Name> {
    static var fieldName: ValueKind { reading("the name of a header") { HTTPFields.Name($0) } }
}

extension ValueKind<HTTPMethod> {
    /// A method that a route may forward.
    static var method: ValueKind {
        ValueKind { scalar throws(ValueError) in
            guard HTTPFields.Name(scalar.text) != nil
            else { throw ValueError("'\(scalar.written)' is not a method") }
            guard scalar.text != "*"
            else {
                throw ValueError("'*' is no method, and there are no wildcards; leave it out for any method")
            }
            guard scalar.text == scalar.text.uppercased()
            else { throw ValueError("methods are upper-case: did you mean '\(scalar.text.uppercased())'?") }
            let method = HTTPMethod(rawValue: scalar.text)
            guard !method.isNeverForwarded else { throw ValueError("\(method) is never forwarded") }
            return method
        }
    }
}

extension ValueKind<String> {
    /// A protocol to upgrade to, with or without a version (RFC 9110 §7.8).
    static var upgradeProtocol: ValueKind {
        text.checked("is not a protocol like websocket or IRC/6.9") { text in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            return parts.count <= 2 && parts.allSatisfy { HTTPFields.Name(String($0)) != nil }
        }
    }

    /// The path of a route: absolute, and in its normal form.
    static var routePath: ValueKind {
        text.map { text throws(ValueError) in
            guard text.hasPrefix("/") else { throw ValueError("must begin with '/'") }
            guard !text.utf8.contains(where: { "?# ".utf8.contains($0) })
            else { throw ValueError("must be a path alone, without spaces, '?' and '#'") }
            let canonical = RequestPath.canonical(text.utf8.span)
            guard RequestPath.understanding(of: text.utf8.span).isAlways(canonical) else {
                throw ValueError(
                    "must be in its plain form, as in /api/v1: no '//', dot segments, ';', '\\', encoded '?', '#' or NUL, or needless percent-encoding"
                )
            }
            return text
        }
    }
}
