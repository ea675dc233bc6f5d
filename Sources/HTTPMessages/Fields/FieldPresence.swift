// SPDX-License-Identifier: Apache-2.0

/// The known names that occur in a head, for several questions about it.
///
/// Whoever asks a head in an object asks that object's variable each time, which is checked at run time.
package struct FieldPresence: Sendable {
    @usableFromInline let names: UInt64

    @inline(__always)
    @usableFromInline init(names: UInt64) { self.names = names }

    /// Returns true if there is a field of that name.
    @inline(__always)
    package func has(_ name: KnownFieldName) -> Bool { names & name.bit != 0 }
}

extension HTTPFields {
    @inline(__always)
    package var presence: FieldPresence { FieldPresence(names: present) }
}
