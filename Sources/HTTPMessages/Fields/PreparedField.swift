// SPDX-License-Identifier: Apache-2.0

internal import System

/// A field that goes into many messages: judged and laid out once, so that to put it into a head is one copy.
///
/// How it is laid out is the affair of ``HTTPFields``, which keeps all fields like that; whatever protocol writes them.
package struct PreparedField: Sendable {
    /// What of a field is no secret: its name, and where its value begins.
    package struct Form: Sendable {
        let known: KnownFieldName
        let nameLength: Int
    }

    package let form: Form
    /// The field as ``HTTPFields`` keeps it, for whoever keeps a secret one elsewhere.
    package private(set) var bytes: [UInt8]

    /// Puts together again what was kept apart.
    @inline(__always)
    package init(_ form: Form, bytes: [UInt8]) {
        self.form = form
        self.bytes = bytes
    }

    /// - Parameters:
    ///   - value: no other copy of it is left behind.
    ///   - prefix: what the value begins with.
    /// - Returns: nil if no field may hold the value as it is (RFC 9110 §5.5).
    package init?(_ name: HTTPFields.Name, bytes value: Span<UInt8>, behind prefix: String = "") {
        form = Form(known: name.known, nameLength: name.description.utf8.count)
        bytes = []
        // Of its last size at once: what an array outgrows is freed as it is.
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

    /// A field of our own making.
    ///
    /// - Parameter value: known to be one that a field may hold.
    package init(_ name: HTTPFields.Name, known value: String) {
        guard let field = PreparedField(name, bytes: value.utf8.span) else {
            preconditionFailure("no value of a field")
        }
        self = field
    }

    /// Changes one byte of the value.
    ///
    /// - Parameters:
    ///   - offset: from the value's start.
    ///   - byte: one that a field may hold, and no white space.
    @inline(__always)
    package mutating func set(_ offset: Int, to byte: UInt8) { bytes[form.nameLength &+ 2 &+ offset] = byte }
}

extension HTTPFields {
    /// Adds a field at the end.
    @inline(__always)
    package mutating func append(_ field: PreparedField) {
        let start = block.count
        guard start &+ field.bytes.count <= Self.maximumBlock else { return }
        block.append(field.bytes.span)
        entries.append(
            Entry(
                nameStart: UInt32(truncatingIfNeeded: start),
                valueStart: UInt32(truncatingIfNeeded: start &+ field.form.nameLength &+ 2),
                valueLength: UInt32(truncatingIfNeeded: field.bytes.count &- field.form.nameLength &- 4),
                nameLength: UInt16(truncatingIfNeeded: field.form.nameLength), known: field.form.known,
                isCanonical: true))
        present |= field.form.known.bit
    }

    /// Puts a field in the place of the first one of its name, keeping the name's spelling, and removes the others; or
    /// appends it.
    package mutating func replace(_ name: Name, with field: PreparedField) {
        guard let index = firstIndex(of: name) else {
            append(field)
            return
        }
        let spelling = entries[index].nameRange
        let start = block.count
        append(field)
        guard let entry = entries.popLast() else { return }
        for offset in 0..<spelling.count {
            block.bytes[start &+ offset] = block.bytes[spelling.lowerBound &+ offset]
        }
        entries[index] = entry
        guard count(of: name) > 1 else { return }
        removeEntries { $0.matches($1, name) && $1.nameStart != entry.nameStart }
    }
}
