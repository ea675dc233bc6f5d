// SPDX-License-Identifier: Apache-2.0

/// Reads response heads from an upstream's bytes, as strictly as ``RequestParser`` reads requests (RFC 9112 §4).
package struct ResponseParser: Sendable {
    private let limits: HeadLimits
    private var scanner: HeadScanner
    private var startLine: StatusLine?

    /// A parser for one connection.
    package init(limits: HeadLimits = HeadLimits()) {
        self.limits = limits
        self.scanner = HeadScanner(maxFields: limits.maxFields)
    }

    /// Reads one head from the front of `bytes`, interim ones (1xx) included.
    ///
    /// A fault of the framing is no fault of the head: ``HTTPResponse/bodyFraming(answering:)`` tells it.
    ///
    /// - Parameters:
    ///   - bytes: from the end of the last message on; the same again, with more behind, after nil.
    ///   - response: emptied with the first bytes of a head, filled when it is complete; its memory is reused.
    /// - Returns: how many bytes the head took; nil if it is not complete.
    /// - Throws: the first fault from left to right.
    package mutating func parse(
        _ bytes: Span<UInt8>, into response: inout HTTPResponse
    ) throws(HTTPParseError) -> Int? {
        guard !bytes.isEmpty else { return nil }
        if scanner.begin(borrowing: &response.fields) { response.removeAll() }
        let head = bytes.extracting(first: limits.headerBytes)
        let isFull = head.count == limits.headerBytes
        guard scanner.hasNews(in: head) || isFull else { return nil }
        do throws(HTTPParseError) {
            guard let line = try statusLine(of: head), let end = try scanner.scanFields(of: head) else {
                if isFull { throw .headTooLarge }
                return nil
            }
            response.status = line.status
            response.version = line.version
            response.reasonBytes.append(head.extracting(line.reason))
            scanner.finish(head.extracting(first: end), into: &response.fields)
            startLine = nil
            response.judgeEnd()
            return end
        } catch {
            reset()
            throw error
        }
    }

    /// Forgets a head that has begun: what comes next is on another connection.
    package mutating func reset() {
        scanner.reset()
        startLine = nil
    }

    private mutating func statusLine(of head: Span<UInt8>) throws(HTTPParseError) -> StatusLine? {
        if let startLine { return startLine }
        guard let (line, end) = try StatusLine.parse(head) else { return nil }
        startLine = line
        scanner.position = end
        return line
    }
}

extension HTTPResponse {
    /// Finds out what the head says of how the content ends, and the connection.
    fileprivate mutating func judgeEnd() {
        isPersistent = fields.isPersistent(version)
        framing = fields.judgedFraming(version)
    }
}
