// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// The first line of a head, in which requests and responses differ.
protocol StartLine: Sendable {
    /// Parses a line from left to right.
    ///
    /// - Returns: the line and the offset of its end; nil if the line is incomplete.
    static func parse(_ head: Span<UInt8>, _ limits: HeadLimits) throws(HTTPParseError) -> (Self, end: Int)?
}

/// Reads a start line and the field lines behind it, and remembers its position; both kinds of heads begin
/// so.
struct HeadReader<Line: StartLine>: Sendable {
    private(set) var limits: HeadLimits
    private var scanner: HeadScanner
    private var startLine: Line?

    init(limits: HeadLimits) {
        self.limits = limits
        scanner = HeadScanner(maxFields: limits.maxFields)
    }

    /// Reads on as far as the bytes go.
    ///
    /// - Parameters:
    ///   - head: the bytes of the head, from its first on.
    ///   - fields: lend their memory from an earlier head.
    /// - Returns: the start line and the offset at which the head ends; nil if it is incomplete.
    @inline(__always)
    mutating func read(
        _ head: Span<UInt8>, borrowing fields: inout HTTPFields
    ) throws(HTTPParseError) -> (line: Line, end: Int)? {
        scanner.begin(borrowing: &fields)
        let isFull = head.count == limits.headerBytes
        guard scanner.hasNews(in: head) || isFull else { return nil }
        if let line = try line(of: head) {
            if let end = try scanner.scanFields(of: head) { return (line, end) }
            // Most heads come in one piece, and need not be remembered.
            startLine = line
        }
        if isFull { throw .headTooLarge }
        return nil
    }

    /// Moves the fields of a complete head into `fields`, and starts over with the next head.
    @inline(__always)
    mutating func finish(_ head: Span<UInt8>, into fields: inout HTTPFields) {
        scanner.finish(head, into: &fields)
        if case .some = startLine { startLine = nil }
    }

    /// Starts over with another connection, and keeps the memory.
    mutating func begin(limits: HeadLimits) {
        self.limits = limits
        scanner.begin(maxFields: limits.maxFields)
        startLine = nil
    }

    /// Starts over with the next head.
    mutating func reset() {
        scanner.reset()
        startLine = nil
    }

    private mutating func line(of head: Span<UInt8>) throws(HTTPParseError) -> Line? {
        if let startLine { return startLine }
        guard let (line, end) = try Line.parse(head, limits) else { return nil }
        scanner.position = end
        return line
    }
}
