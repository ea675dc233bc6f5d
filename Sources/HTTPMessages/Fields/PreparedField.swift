// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// A field for many messages, validated and laid out once, so that adding it to a head is one copy.
///
/// The layout is that of ``HTTPFields``, whatever protocol writes it.
package struct PreparedField: Sendable {
    /// The public part of a field: its name, and where its value begins.
    package struct Form: Sendable {
        let known: KnownFieldName
        let nameLength: Int
    }

    package let form: Form
    /// True if the value is secret.
    let isNeverIndexed: Bool
    /// The field in the layout of ``HTTPFields``.
    package private(set) var bytes: [UInt8]

    /// Joins a form and the bytes that were kept apart.
    @inline(__always)
    package init(_ form: Form, bytes: [UInt8], isNeverIndexed: Bool = false) {
        self.form = form
        self.isNeverIndexed = isNeverIndexed
        self.bytes = bytes
    }

    /// - Parameters:
    ///   - value: is copied into the field and nowhere else.
    ///   - prefix: the beginning of the value.
    /// - Returns: nil if no field may hold the value (RFC 9110 §5.5).
    package init?(_ name: HTTPFields.Name, bytes value: Span<UInt8>, behind prefix: String = "") {
        isNeverIndexed = false
        form = Form(known: name.known, nameLength: name.description.utf8.count)
        bytes = []
        // Reserved at once, because an array that grows frees its old memory without overwriting it.
        bytes.reserveCapacity(form.nameLength + prefix.utf8.count + value.count + 4)
        bytes += name.description.utf8
        bytes += [Byte.colon, Byte.space]
        bytes += prefix.utf8
        bytes.append(value)
        let whole = (form.nameLength + 2)..<bytes.count
        guard bytes.count < HTTPFields.maximumBlock,
            bytes.span.trimmingOptionalWhitespace(whole) == whole,
            bytes[whole].allSatisfy(\.isFieldContent)
        else { return nil }
        bytes += [Byte.carriageReturn, Byte.lineFeed]
    }

    /// A field with a value that is known to be valid.
    package init(_ name: HTTPFields.Name, known value: String) {
        guard let field = PreparedField(name, bytes: value.utf8.span)
        else { preconditionFailure("no value of a field") }
        self = field
    }

    /// Changes one byte of the value.
    ///
    ///   - Parameter byte: valid in a field, and no white space.
    @inline(__always)
    package mutating func set(_ offset: Int, to byte: UInt8) { bytes[form.nameLength &+ 2 &+ offset] = byte }
}

extension PreparedField {
    /// The field's line, for one whose bytes are at `start` of a block.
    @inline(__always)
    fileprivate func entry(at start: Int) -> HTTPFields.Entry {
        HTTPFields.Entry(
            nameStart: UInt32(truncatingIfNeeded: start),
            valueStart: UInt32(truncatingIfNeeded: start &+ form.nameLength &+ 2),
            valueLength: UInt32(truncatingIfNeeded: bytes.count &- form.nameLength &- 4),
            nameLength: UInt16(truncatingIfNeeded: form.nameLength), known: form.known, isCanonical: true,
            isNeverIndexed: isNeverIndexed)
    }
}

extension HTTPFields {
    package mutating func append(_ field: PreparedField) {
        let start = block.count
        guard start &+ field.bytes.count <= Self.maximumBlock else { return }
        block.append(field.bytes.span)
        entries.append(field.entry(at: start))
        noteAdded(field.form.known)
    }

    /// Replaces the first field of this name, keeping the name's spelling, and removes the others; or appends the
    /// field.
    package mutating func replace(_ name: Name, with field: PreparedField) {
        guard let index = firstIndex(of: name) else {
            append(field)
            return
        }
        let old = entries[index].nameRange
        let start = block.count
        guard start &+ field.bytes.count <= Self.maximumBlock else { return }
        block.append(field.bytes.span)
        if !block.bytes.span.extracting(old).equals(field.bytes.span.extracting(0..<old.count)) {
            for offset in 0..<old.count {
                block.bytes[start &+ offset] = block.bytes[old.lowerBound &+ offset]
            }
        }
        entries[index] = field.entry(at: start)
        noteAdded(field.form.known)
        for other in (index &+ 1)..<entries.count where matches(entries[other], name) {
            return removeEntries { $0.matches($1, name) && Int($1.nameStart) != start }
        }
    }
}
