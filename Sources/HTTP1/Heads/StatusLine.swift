// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// The first line of a response (RFC 9112 §4); its reason phrase is a range of the head.
struct StatusLine: StartLine {
    var version: HTTPVersion
    var status: Int
    var reason: Range<Int>

    /// Parses the line from left to right; the space before an empty reason phrase may be missing.
    ///
    /// - Returns: the line and the offset of the next one; nil if the line is incomplete.
    static func parse(
        _ head: Span<UInt8>, _ limits: HeadLimits
    ) throws(HTTPParseError) -> (StatusLine, end: Int)? {
        guard let (version, versionEnd) = try head.version(at: 0) else { return nil }
        guard head[versionEnd] == Byte.space else {
            guard try head.lineEnd(at: versionEnd, orElse: .malformedStartLine) != nil else { return nil }
            throw .malformedStartLine
        }
        var cursor = versionEnd &+ 1
        var status = 0
        for _ in 0..<3 {
            guard cursor < head.count else { return nil }
            guard head[cursor].isDigit else { throw .malformedStatusCode }
            status = status &* 10 &+ Int(head[cursor] &- Byte.zero)
            cursor &+= 1
        }
        guard status >= 100 else { throw .malformedStatusCode }
        guard cursor < head.count else { return nil }
        if head[cursor] == Byte.space {
            cursor &+= 1
        } else if head[cursor] != Byte.carriageReturn, head[cursor] != Byte.lineFeed {
            throw .malformedStatusCode
        }
        let reason = cursor
        while cursor < head.count, head[cursor].isFieldContent { cursor &+= 1 }
        guard let end = try head.lineEnd(at: cursor, orElse: .malformedReason) else { return nil }
        return (StatusLine(version: version, status: status, reason: reason..<cursor), end)
    }
}
