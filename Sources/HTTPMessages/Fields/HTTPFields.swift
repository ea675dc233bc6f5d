// SPDX-License-Identifier: Apache-2.0

package import BearerdSystem

/// Header or trailer fields, in order, with their case and multiplicity as received (RFC 9110 §5).
///
/// All lines live in one block of bytes, and the entries only point into it, so a field costs neither an allocation
/// nor a copy of its own. The block holds the text of HTTP/1.1, from which codecs of other protocols take names and
/// values. A value that is reused for many messages (``removeAll(keepingCapacity:)``) stops allocating.
package struct HTTPFields: Sendable {
    /// One field line, as offsets into `block`.
    package typealias Entry = FieldEntry

    /// The lines, with remains of removed ones.
    package var block = ByteBlock()
    package var entries = Entries()
    /// The bits of all known names that occur.
    package var present: UInt64 = 0
    /// The value of `Connection` as the parser found it; nil if it has not looked, or a field of that name came later.
    package var parsedConnection: ConnectionOption?

    package init() {}

    package var isEmpty: Bool { entries.isEmpty }

    package var count: Int { entries.count }

    /// The first value of a name, with invalid UTF-8 replaced.
    ///
    /// Setting replaces the first field of that name, keeping its spelling, and removes the others; or appends one. A
    /// value that no field may hold (RFC 9110 §5.5) is not stored: the name is removed.
    package subscript(name: Name) -> String? {
        get { firstIndex(of: name).map { text(entries[$0].valueRange) } }
        set {
            guard let newValue, replace(name, with: newValue.utf8.span) else {
                remove(name)
                return
            }
        }
    }

    /// The first value of a name, as a slice of the block.
    package func bytes(of name: Name) -> ArraySlice<UInt8>? {
        firstIndex(of: name).map { block.bytes[entries[$0].valueRange] }
    }

    /// Returns true if there is one field of that name with exactly this value; mutating as ``copy(_:into:)`` is.
    package mutating func has(_ name: KnownFieldName, equalTo value: [UInt8]) -> Bool {
        guard case .once(let range) = occurrence(of: name) else { return false }
        return block.bytes.span.extracting(range).equals(value.span)
    }

    /// Appends the first value of a name to `bytes`.
    ///
    /// Mutating only so that a head inside an object is lent and not copied.
    package mutating func copy(_ name: Name, into bytes: inout [UInt8]) {
        if let index = firstIndex(of: name) {
            bytes.append(contentsOf: block.bytes[entries[index].valueRange])
        }
    }

    /// Every value of a name, in order.
    package func values(of name: Name) -> [String] {
        entries.filter { matches($0, name) }.map { text($0.valueRange) }
    }

    /// Returns true if there is a field of that name.
    ///
    /// Inlined, because calling a method of a head inside an object would copy the head.
    @inline(__always) package func contains(_ name: Name) -> Bool {
        let bit = name.bit
        return bit == 0 ? firstIndex(of: name) != nil : present & bit != 0
    }

    /// Returns true if there is a field of that name: for questions about every message.
    @inline(__always) package func has(_ name: KnownFieldName) -> Bool { present & name.bit != 0 }

    /// The number of field lines with that name.
    package func count(of name: Name) -> Int {
        guard name.known == .other || present & name.known.bit != 0 else { return 0 }
        var count = 0
        for entry in entries where matches(entry, name) {
            count += 1
        }
        return count
    }

    /// Calls back with every field, in order; slow.
    package func forEach(_ body: (_ name: String, _ value: String) -> Void) {
        for entry in entries {
            body(text(entry.nameRange), text(entry.valueRange))
        }
    }

    /// Appends a field.
    ///
    /// - Returns: false, without a change, if no field may hold the value (RFC 9110 §5.5).
    @discardableResult
    package mutating func append(_ name: Name, _ value: String) -> Bool {
        append(name, bytes: value.utf8.span)
    }

    /// Appends a field whose value is given as bytes.
    ///
    /// - Returns: false, without a change, if no field may hold the value (RFC 9110 §5.5).
    @discardableResult
    package mutating func append(_ name: Name, bytes value: Span<UInt8>) -> Bool {
        let start = block.count
        block.append(name.description.utf8.span)
        guard let entry = finishLine(from: start, known: name.known, value: value) else { return false }
        entries.append(entry)
        noteAdded(entry.known)
        return true
    }

    package mutating func remove(_ name: Name) {
        guard contains(name) else { return }
        removeEntries { $0.matches($1, name) }
    }

    /// Removes all fields, and leaves nothing of them in the memory that is kept.
    package mutating func wipe() {
        block.wipe()
        removeAll(keepingCapacity: true)
    }

    package mutating func removeAll(keepingCapacity: Bool = false) {
        block.removeAll(keepingCapacity: keepingCapacity)
        entries.removeAll(keepingCapacity: keepingCapacity)
        present = 0
        parsedConnection = nil
    }

    /// Notes that there is a field of that name.
    @inline(__always)
    package mutating func noteAdded(_ name: KnownFieldName) {
        present |= name.bit
        if name == .connection { parsedConnection = nil }
    }
}

extension HTTPFields: Equatable {
    /// Returns true if both would be written in the same way: order, case and multiplicity count.
    package static func == (left: HTTPFields, right: HTTPFields) -> Bool {
        guard left.entries.count == right.entries.count else { return false }
        return zip(left.entries, right.entries).allSatisfy { one, other in
            left.block.bytes[one.nameRange] == right.block.bytes[other.nameRange]
                && left.block.bytes[one.valueRange] == right.block.bytes[other.valueRange]
        }
    }
}
