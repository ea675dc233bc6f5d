// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

extension HTTPFields {
    /// The most bytes of a block, far below what the 32-bit offsets allow.
    package static var maximumBlock: Int { 1 &<< 30 }

    func text(_ range: Range<Int>) -> String { String(decoding: block.bytes[range], as: UTF8.self) }

    func firstIndex(of name: Name) -> Int? {
        guard name.known == .other || present & name.known.bit != 0 else { return nil }
        let all = entries.memory.span
        for index in 0..<entries.count where matches(all[index], name) {
            return index
        }
        return nil
    }

    /// How often a name that must not be repeated occurs, and the range of its value.
    package enum Occurrence {
        case none
        case once(Range<Int>)
        case repeated
    }

    /// The range of the first value of a name; empty if there is none.
    @inline(__always)
    package func firstRange(of name: KnownFieldName) -> Range<Int> {
        let all = entries.memory.span
        for index in 0..<entries.count where all[index].number == name.rawValue {
            return all[index].valueRange
        }
        return 0..<0
    }

    package func occurrence(of name: KnownFieldName) -> Occurrence {
        var occurrence = Occurrence.none
        guard has(name) else { return occurrence }
        let all = entries.memory.span
        for index in 0..<entries.count where all[index].number == name.rawValue {
            guard case .none = occurrence else { return .repeated }
            occurrence = .once(all[index].valueRange)
        }
        return occurrence
    }

    func matches(_ entry: Entry, _ name: Name) -> Bool {
        guard entry.number == 0, name.known == .other else { return entry.number == name.known.rawValue }
        return matchesUnknown(entry, name.description.utf8.span)
    }

    private func matchesUnknown(_ entry: Entry, _ spelling: Span<UInt8>) -> Bool {
        guard Int(entry.nameLength) == spelling.count else { return false }
        for offset in 0..<spelling.count
        where block.bytes[Int(entry.nameStart) &+ offset].asciiLowercased != spelling[offset].asciiLowercased
        {
            return false
        }
        return true
    }

    /// Removes the entries that `isUnwanted` selects; the others keep their order.
    package mutating func removeEntries(where isUnwanted: (HTTPFields, Entry) -> Bool) {
        var kept = 0
        var stillPresent: UInt64 = 0
        for index in entries.indices where !isUnwanted(self, entries[index]) {
            let entry = entries[index]
            stillPresent |= entry.known.bit
            entries[kept] = entry
            kept &+= 1
        }
        entries.shorten(to: kept)
        present = stillPresent
    }

    /// Replaces the value of the first field of that name and removes the others, or appends a field.
    ///
    /// - Returns: false, without a change, if no field may hold the value (RFC 9110 §5.5).
    @discardableResult
    package mutating func replace(_ name: Name, with value: Span<UInt8>) -> Bool {
        guard let index = firstIndex(of: name) else { return append(name, bytes: value) }
        let start = block.count
        // Byte by byte, because a slice would be a second owner of the block and cause a copy of it.
        for offset in entries[index].nameRange { block.append(block.bytes[offset]) }
        guard let entry = finishLine(from: start, known: name.known, value: value) else { return false }
        entries[index] = entry
        noteAdded(entry.known)
        guard count(of: name) > 1 else { return true }
        removeEntries { $0.matches($1, name) && $1.nameStart != entry.nameStart }
        return true
    }

    /// Returns true if a field may hold these bytes (RFC 9110 §5.5).
    private func isFieldValue(_ value: Span<UInt8>) -> Bool {
        guard value.count <= Self.maximumBlock else { return false }
        for index in value.indices where !value[index].isFieldContent {
            return false
        }
        return true
    }

    /// Completes the line whose name was just appended to the block.
    ///
    /// - Returns: nil if no field may hold the value; the block is then as long as at `start`.
    mutating func finishLine(from start: Int, known: KnownFieldName, value: Span<UInt8>) -> Entry? {
        let nameEnd = block.count
        let trimmed = value.trimmingOptionalWhitespace(0..<value.count)
        guard isFieldValue(value), block.count + trimmed.count + 4 <= Self.maximumBlock else {
            block.removeLast(nameEnd - start)
            return nil
        }
        block.append(Byte.colon)
        block.append(Byte.space)
        block.append(value.extracting(trimmed))
        block.append(Byte.carriageReturn)
        block.append(Byte.lineFeed)
        return Entry(
            nameStart: UInt32(start), valueStart: UInt32(nameEnd + 2), valueLength: UInt32(trimmed.count),
            nameLength: UInt16(nameEnd - start), known: known, isCanonical: true)
    }
}
