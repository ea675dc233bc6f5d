// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem

/// Reads the field lines of a head or of a trailer section (RFC 9112 §5), and remembers how far it came.
///
/// Each line is judged from left to right. When the bytes end inside a line, its start is kept, and the line is judged
/// again only when its LF has come: a head that trickles in costs no more than twice what one that is whole does.
struct HeadScanner: Sendable {
    /// The lines so far, as offsets in the head, and behind them what is left of an earlier one: to empty an array costs
    /// as much as to judge a line.
    private var entries: [HTTPFields.Entry] = []
    /// How many lines there are.
    private var lineCount = 0
    private var present: UInt64 = 0
    private let maxFields: Int
    private let index = KnownFieldName.index
    /// Where the first line begins that has not been judged.
    var position = 0
    /// Behind the last byte that has been looked at.
    private var scanned = 0
    /// Whether a head has begun.
    private var isBusy = false

    init(maxFields: Int) {
        self.maxFields = maxFields
    }

    /// Prepares for a head, if it is a new one, with the memory that `fields` has from an earlier one: they mean nothing
    /// then, until the head is finished or they are emptied.
    mutating func begin(borrowing fields: inout HTTPFields) {
        guard !isBusy else { return }
        isBusy = true
        if fields.entries.capacity > entries.capacity { swap(&fields.entries, &entries) }
    }

    /// Starts over with the next head.
    mutating func reset() {
        isBusy = false
        lineCount = 0
        present = 0
        position = 0
        scanned = 0
    }

    /// Whether there is anything new to judge: a line's first bytes, or its end.
    mutating func hasNews(in head: Span<UInt8>) -> Bool {
        let isKnown = scanned > position
        let from = scanned
        scanned = max(head.count, scanned)
        return !isKnown
            || (from < head.count && head.firstIndex(of: Byte.lineFeed, in: from..<head.count) != nil)
    }

    /// Judges line after line, up to the empty one.
    ///
    /// - Returns: where the head ends, its empty line included; nil if the bytes end before.
    mutating func scanFields(of head: Span<UInt8>) throws(HTTPParseError) -> Int? {
        let end = head.count
        while position < end {
            let start = position
            let nameEnd = head.endOfVisible(orColonFrom: start)
            let isName = nameEnd < end && nameEnd > start && head[nameEnd] == Byte.colon
            let known = isName ? index.find(in: head, start..<nameEnd) : .other
            if known == .other {
                // Not one of the names that are known to be tokens.
                var stop = start
                while stop < end, head[stop].isTokenCharacter { stop &+= 1 }
                guard stop < end else { return nil }
                guard isName, stop == nameEnd else { return try endOrError(head, start: start, stop: stop) }
            }
            var cursor = nameEnd &+ 1
            while cursor < end, head[cursor].isOptionalWhitespace { cursor &+= 1 }
            let valueStart = cursor
            cursor = head.endOfFieldContent(from: cursor)
            guard let next = try Self.lineEnd(head, at: cursor) else { return nil }
            var valueEnd = cursor
            while valueEnd > valueStart, head[valueEnd &- 1].isOptionalWhitespace { valueEnd &-= 1 }
            let isCanonical =
                valueEnd == cursor && valueStart == nameEnd &+ 2 && head[nameEnd &+ 1] == Byte.space
            try add(known, name: start..<nameEnd, value: valueStart..<valueEnd, isCanonical: isCanonical)
            position = next
        }
        return nil
    }

    /// Moves what was found into `fields`: the bytes with one copy, the entries with none.
    mutating func finish(_ head: Span<UInt8>, into fields: inout HTTPFields) {
        fields.block.removeAll(keepingCapacity: true)
        fields.block.append(head)
        if entries.count > lineCount { entries.removeLast(entries.count &- lineCount) }
        swap(&fields.entries, &entries)
        fields.present = present
        reset()
    }

    private mutating func add(
        _ known: KnownFieldName, name: Range<Int>, value: Range<Int>, isCanonical: Bool
    ) throws(HTTPParseError) {
        guard lineCount < maxFields else { throw .tooManyFields }
        guard name.count <= Int(UInt16.max), value.upperBound <= HTTPFields.maximumBlock else {
            throw .headTooLarge
        }
        present |= known.bit
        let entry = HTTPFields.Entry(
            nameStart: UInt32(truncatingIfNeeded: name.lowerBound),
            valueStart: UInt32(truncatingIfNeeded: value.lowerBound),
            valueLength: UInt32(truncatingIfNeeded: value.count),
            nameLength: UInt16(truncatingIfNeeded: name.count), known: known, isCanonical: isCanonical)
        if lineCount < entries.count { entries[lineCount] = entry } else { entries.append(entry) }
        lineCount &+= 1
    }

    /// Where the next line begins, `cursor` standing on the first byte that no field value may hold.
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

    /// Judges a line whose name does not end with a colon: the empty line that ends the head, or an error.
    private func endOrError(_ head: Span<UInt8>, start: Int, stop: Int) throws(HTTPParseError) -> Int? {
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
