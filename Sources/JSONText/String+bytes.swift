// SPDX-License-Identifier: Apache-2.0

extension String {
    /// True if both are the same bytes, as names and values of protocols are compared (RFC 8259 §8.3, RFC 7519 §2).
    ///
    /// `==` also takes canonically equivalent spellings for equal: `é` is one code point or two, and the Kelvin sign is a K.
    package func hasSameBytes(as other: String?) -> Bool {
        guard let other else { return false }
        return utf8.elementsEqual(other.utf8)
    }
}

extension Sequence<String> {
    /// True if one of them is the same bytes as `text`.
    package func containsBytes(of text: String) -> Bool { contains { $0.hasSameBytes(as: text) } }
}
