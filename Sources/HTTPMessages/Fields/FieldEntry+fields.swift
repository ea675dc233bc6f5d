// SPDX-License-Identifier: Apache-2.0

package import BearerdSystem

/// A line of ``HTTPFields``.
extension FieldEntry {
    @inline(__always)
    package init(
        nameStart: UInt32, valueStart: UInt32, valueLength: UInt32, nameLength: UInt16,
        known: KnownFieldName, isCanonical: Bool, isNeverIndexed: Bool = false
    ) {
        self.init(
            nameStart: nameStart, valueStart: valueStart, valueLength: valueLength, nameLength: nameLength,
            number: known.rawValue, traits: (isCanonical ? 1 : 0) | (isNeverIndexed ? 2 : 0))
    }

    @inline(__always)
    package var known: KnownFieldName { KnownFieldName(rawValue: number) ?? .other }

    /// The bit of its name in a set of names.
    @inline(__always)
    package var bit: UInt64 { 1 &<< UInt64(number) }

    /// True if the block holds exactly `Name: value CR LF` here, which can be copied as it is.
    package var isCanonical: Bool {
        @inline(__always) get { traits & 1 != 0 }
        set { traits = newValue ? traits | 1 : traits & ~1 }
    }

    /// True if no table of a compression may hold the field (RFC 7541 §7.1.3): it is secret.
    package var isNeverIndexed: Bool {
        @inline(__always) get { traits & 2 != 0 }
    }

    package var nameRange: Range<Int> { Int(nameStart)..<(Int(nameStart) &+ Int(nameLength)) }
    package var valueRange: Range<Int> { Int(valueStart)..<(Int(valueStart) &+ Int(valueLength)) }
    /// The end of a canonical line, with its CR LF.
    package var lineEnd: Int { Int(valueStart) &+ Int(valueLength) &+ 2 }
}
