// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages

/// A body of `application/x-www-form-urlencoded`, as RFC 6749 appendix B uses it.
///
/// Everything but letters, digits and `-._~` is percent-encoded, a space too: every decoder understands that, while
/// some take `+` for itself.
struct FormBody {
    static let contentType = "application/x-www-form-urlencoded"

    private(set) var bytes: [UInt8] = []

    mutating func append(_ parameter: TokenParameter, _ value: String) {
        append(name: parameter.rawValue, value)
    }

    mutating func append(_ parameters: [NamedValue]) {
        for parameter in parameters { append(name: parameter.name, parameter.value) }
    }

    /// Appends the parameters of another body.
    mutating func append(_ other: FormBody) {
        if !bytes.isEmpty, !other.bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
        bytes += other.bytes
    }

    mutating func append(name: String, _ value: String) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
        PercentEncoding.encode(name, into: &bytes)
        bytes.append(UInt8(ascii: "="))
        PercentEncoding.encode(value, into: &bytes)
    }
}
