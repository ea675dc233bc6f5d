// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem

/// Reads the field lines of a head or a trailer section (RFC 9112 §5), and remembers its position.
///
/// Each line is parsed from left to right. If the bytes end inside a line it is parsed again once its LF has
/// come: a head that trickles in costs at most twice as much as one that comes whole.
struct HeadScanner: Sendable {
    /// The lines so far as offsets in the head, followed by old entries of an earlier head.
    ///
    /// The old ones stay because emptying an array costs as much as parsing a line.
    private var entries: [HTTPFields.Entry] = []
    /// The number of lines so far.
    private var lineCount = 0
    private var present: UInt64 = 0
    private var maxFields: Int
    private let index = KnownFieldName.index
    /// The offset of the first line that has not been parsed.
    var position = 0
    /// The offset behind the last byte that was looked at.
    private var scanned = 0
    /// True once a head has begun.
    private var isBusy = false

    init(maxFields: Int) {
        self.maxFields = maxFields
    }

    /// Prepares for a new head with the memory of `fields`, which mean nothing until ``finish(_:into:)`` or
    /// their removal.
    mutating func begin(borrowing fields: inout HTTPFields) {
        guard !isBusy else { return }
        isBusy = true
        if fields.entries.capacity > entries.capacity { swap(&fields.entries, &entries) }
    }

    /// Starts over with another connection, and keeps the memory.
    mutating func begin(maxFields: Int) {
        self.maxFields = maxFields
        reset()
    }

    /// Starts over with the next head.
    mutating func reset() {
        isBusy = false
        lineCount = 0
        present = 0
        position = 0
        scanned = 0
    }

    /// Returns true if there is something new to parse: the first bytes of a line, or its end.
    mutating func hasNews(in head: Span<UInt8>) -> Bool {
        let isKnown = scanned > position
        let from = scanned
        scanned = max(head.count, scanned)
        return !isKnown
            || (from < head.count && head.firstIndex(of: Byte.lineFeed, in: from..<head.count) != nil)
    }

    /// Parses lines up to the empty one.
    ///
    /// - Returns: the offset behind the empty line; nil if the head is incomplete.
    mutating func scanFields(of head: Span<UInt8>) throws(HTTPParseError) -> Int? {
        guard head.count <= HTTPFields.maximumBlock else { throw .headTooLarge }
        try scanCompleteFields(of: head)
        return try endOrError(head)
    }

    /// Parses lines up to what is none.
    private mutating func scanCompleteFields(of head: Span<UInt8>) throws(HTTPParseError) {
        // Local, so that nothing is asked for each line that is the same for all.
        let (index, maxFields) = (index, maxFields)
        var (start, count, present) = (position, lineCount, present)
        var lines: [HTTPFields.Entry] = []
        swap(&lines, &entries)
        defer {
            swap(&lines, &entries)
            (position, lineCount, self.present) = (start, count, present)
        }
        while let line = head.fieldLine(from: start) {
            guard count < maxFields else { throw .tooManyFields }
            let nameLength = line.nameEnd &- start
            guard nameLength <= Int(UInt16.max) else { throw .headTooLarge }
            let known = index.find(in: head, start..<line.nameEnd)
            present |= known.bit
            let isCanonical =
                line.valueStart == line.nameEnd &+ 2 && line.next == line.valueEnd &+ 2
                && head[line.nameEnd &+ 1] == Byte.space
            let entry = HTTPFields.Entry(
                nameStart: UInt32(truncatingIfNeeded: start),
                valueStart: UInt32(truncatingIfNeeded: line.valueStart),
                valueLength: UInt32(truncatingIfNeeded: line.valueEnd &- line.valueStart),
                nameLength: UInt16(truncatingIfNeeded: nameLength), known: known, isCanonical: isCanonical)
            if count < lines.count { lines[count] = entry } else { lines.append(entry) }
            count &+= 1
            start = line.next
        }
    }

    /// Moves the result into `fields`: the bytes with one copy, the entries with none.
    mutating func finish(_ head: Span<UInt8>, into fields: inout HTTPFields) {
        fields.block.removeAll(keepingCapacity: true)
        fields.block.append(head)
        if entries.count > lineCount { entries.removeLast(entries.count &- lineCount) }
        swap(&fields.entries, &entries)
        fields.present = present
        reset()
    }

    /// Returns the offset of the next line; `cursor` is at the first byte that a field value cannot contain.
    @inline(__always)
    private static func lineEnd(_ head: Span<UInt8>, at cursor: Int) throws(HTTPParseError) -> Int? {
        guard cursor < head.count else { return nil }
        guard head[cursor] == Byte.carriageReturn else {
            throw head[cursor] == Byte.lineFeed ? .bareLineFeed : .controlByteInField
        }
        guard cursor &+ 1 < head.count else { return nil }
        guard head[cursor &+ 1] == Byte.lineFeed else { throw .bareCarriageReturn }
        return cursor &+ 2
    }

    /// Handles what is no field line: the empty line that ends the head, a line that is incomplete, or an error.
    private func endOrError(_ head: Span<UInt8>) throws(HTTPParseError) -> Int? {
        let start = position
        let stop = head.endOfToken(from: start)
        guard stop < head.count else { return nil }
        guard stop == start || head[stop] != Byte.colon else {
            var cursor = stop &+ 1
            while cursor < head.count, head[cursor].isOptionalWhitespace { cursor &+= 1 }
            _ = try Self.lineEnd(head, at: head.endOfFieldContent(from: cursor))
            return nil
        }
        switch head[stop] {
        case Byte.carriageReturn:
            guard let next = try Self.lineEnd(head, at: stop) else { return nil }
            guard stop == start else { throw .missingColon }
            return next
        case Byte.lineFeed: throw .bareLineFeed
        case Byte.space, Byte.tab: throw stop == start ? .foldedField : .whitespaceBeforeColon
        default: throw .malformedFieldName
        }
    }
}
