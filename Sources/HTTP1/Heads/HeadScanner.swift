// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem

/// Reads the field lines of a head or a trailer section (RFC 9112 §5), and remembers its position.
///
/// Each line is parsed from left to right. If the bytes end inside a line it is parsed again once its LF has
/// come: a head that trickles in costs at most twice as much as one that comes whole.
struct HeadScanner: Sendable {
    /// The lines so far as offsets in the head, in the memory of an earlier one.
    private var entries = HTTPFields.Entries()
    private var progress = FieldLineProgress()
    private var maxFields: Int
    private let names = KnownFieldName.table
    /// The offset of the first line that has not been parsed.
    var position: Int {
        get { progress.next }
        set { progress.next = newValue }
    }
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
        if fields.entries.memory.count > entries.memory.count { swap(&fields.entries, &entries) }
    }

    /// Starts over with another connection, and keeps the memory.
    mutating func begin(maxFields: Int) {
        self.maxFields = maxFields
        reset()
    }

    /// Starts over with the next head.
    mutating func reset() {
        isBusy = false
        progress = FieldLineProgress()
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
        while true {
            names.read(head, into: &entries.memory, atMost: maxFields, &progress)
            guard !progress.nameIsTooLong else { throw .headTooLarge }
            guard progress.count >= min(entries.memory.count, maxFields), position < head.count,
                head[position] != Byte.carriageReturn
            else { return }
            guard progress.count < maxFields else {
                guard head.fieldLine(from: position) == nil else { throw .tooManyFields }
                return
            }
            // An entry that is not a line ends the scan the next time.
            for _ in 0..<8 { entries.memory.append(.none) }
        }
    }

    /// Moves the result into `fields`: the bytes with one copy, the entries with none.
    mutating func finish(_ head: Span<UInt8>, into fields: inout HTTPFields) {
        fields.block.removeAll(keepingCapacity: true)
        fields.block.append(head)
        swap(&fields.entries, &entries)
        fields.entries.use(progress.count)
        fields.present = progress.present
        fields.parsedConnection = progress.connection
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
        if start &+ 1 < head.count, head[start] == Byte.carriageReturn, head[start &+ 1] == Byte.lineFeed {
            return start &+ 2
        }
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
