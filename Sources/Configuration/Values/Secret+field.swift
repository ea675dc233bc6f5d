// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography

extension Secret {
    /// The rule of a secret that does not fit a header field.
    static let fieldRule = "cannot stand in a header: it holds a control character, or a space at an end"

    /// True if it does not change on its way through a header field (RFC 9110 §5.5).
    var canStandInField: Bool {
        let bytes = plaintextBytes
        let space = UInt8(ascii: " ")
        return bytes.allSatisfy { $0 >= space && $0 != 0x7F } && bytes.first != space && bytes.last != space
    }
}
