// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// Names that a client may not use in our place, and other spellings that gateways take for them.
///
/// CGI turns each `-` of a name into `_` (RFC 3875 §4.1.18), and some servers turn other characters into `_` too: for
/// them `X_Api-Key` is `X-Api-Key`, and one of the two values wins.
package struct ReservedNames: Sendable {
    /// In lower case.
    private let names: [[UInt8]]
    /// True if only a name with characters other than letters, digits and `-` can be taken for one of them.
    private let areUsual: Bool

    package init(_ names: [HTTPFields.Name]) {
        self.names = names.map { $0.description.utf8.map(\.asciiLowercased) }
        areUsual = self.names.joined().allSatisfy(\.isUsual)
    }

    /// Returns true if a name is none of these, but some gateway would take it for one.
    fileprivate func areMistaken(for bytes: Span<UInt8>, _ name: Range<Int>) -> Bool {
        var isUsual = areUsual
        for offset in name where isUsual && !bytes[offset].isUsual { isUsual = false }
        guard !isUsual, !names.contains(where: { Self.isSame($0, bytes, name) { $0 } }) else { return false }
        return names.contains { Self.isSame($0, bytes, name, asSeenBy: \.inMetaVariable) }
    }

    /// Returns true if a name is one of these, or some gateway would take it for one.
    fileprivate func include(_ bytes: Span<UInt8>, _ name: Range<Int>) -> Bool {
        names.contains { Self.isSame($0, bytes, name, asSeenBy: \.inMetaVariable) }
    }

    private static func isSame(
        _ reserved: [UInt8], _ bytes: Span<UInt8>, _ name: Range<Int>, asSeenBy view: (UInt8) -> UInt8
    ) -> Bool {
        guard reserved.count == name.count else { return false }
        for offset in 0..<reserved.count
        where view(reserved[offset]) != view(bytes[name.lowerBound &+ offset].asciiLowercased) {
            return false
        }
        return true
    }
}

extension HTTPFields {
    /// Removes the fields that gateways would take for one of `names`, though they are spelled otherwise.
    ///
    /// Costs something only if there is a name that is no ``KnownFieldName``.
    package mutating func removeLookalikes(of names: ReservedNames) {
        guard has(.other), entries.contains(where: { isLookalike($0, of: names) }) else { return }
        removeEntries { $0.isLookalike($1, of: names) }
    }

    /// Removes the fields with one of `names`, none of which is a ``KnownFieldName``, and those that gateways would
    /// take for one.
    package mutating func removeAll(of names: ReservedNames) {
        guard has(.other) else { return }
        removeEntries { $1.known == .other && names.include($0.block.bytes.span, $1.nameRange) }
    }

    private func isLookalike(_ entry: Entry, of names: ReservedNames) -> Bool {
        entry.known == .other && names.areMistaken(for: block.bytes.span, entry.nameRange)
    }
}

extension UInt8 {
    /// True if all gateways keep it in a name.
    fileprivate var isUsual: Bool { self == Byte.hyphen || inMetaVariable != UInt8(ascii: "_") }

    /// A byte of a lower-case name as the strictest gateway writes it, apart from case.
    fileprivate var inMetaVariable: UInt8 {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: self
        default: UInt8(ascii: "_")
        }
    }
}
