// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem

/// The first line of a request (RFC 9112 §3); its target is a range of the head.
struct RequestLine: StartLine {
    var method: HTTPMethod
    var target: Range<Int>
    var version: HTTPVersion

    /// The most bytes of a method, more than any registered one has.
    private static var longestMethod: Int { 32 }

    /// - Returns: the line and the offset of the next one; nil if the line is incomplete.
    static func parse(
        _ head: Span<UInt8>, _ limits: HeadLimits
    ) throws(HTTPParseError) -> (RequestLine, end: Int)? {
        guard let start = try skipEmptyLine(head) else { return nil }
        guard let (method, methodEnd) = try method(of: head, from: start) else { return nil }
        let target = methodEnd &+ 1
        guard let targetEnd = try endOfTarget(head, from: target, limit: limits.uriBytes) else { return nil }
        guard let (version, versionEnd) = try version(head, at: targetEnd &+ 1) else { return nil }
        guard let end = try head.lineEnd(at: versionEnd, orElse: .malformedStartLine) else { return nil }
        return (RequestLine(method: method, target: target..<targetEnd, version: version), end)
    }

    /// The method at the front of a head that is faulty or incomplete; nil if it cannot be read.
    static func method(of head: Span<UInt8>) -> HTTPMethod? {
        guard let start = try? skipEmptyLine(head) else { return nil }
        return try? method(of: head, from: start)?.method
    }

    private static func skipEmptyLine(_ head: Span<UInt8>) throws(HTTPParseError) -> Int? {
        guard !head.isEmpty else { return nil }
        guard head[0] == Byte.carriageReturn else { return 0 }
        return try head.lineEnd(at: 0, orElse: .malformedStartLine)
    }

    private static func method(
        of head: Span<UInt8>, from start: Int
    ) throws(HTTPParseError) -> (method: HTTPMethod, end: Int)? {
        if let usual = usualMethod(of: head, from: start) { return usual }
        let cursor = head.endOfToken(from: start)
        guard cursor &- start <= longestMethod else { throw .methodTooLong }
        guard cursor < head.count else { return nil }
        switch head[cursor] {
        case Byte.space where cursor > start:
            return (HTTPMethod(head.extracting(start..<cursor)), cursor)
        case Byte.lineFeed: throw .bareLineFeed
        case Byte.carriageReturn:
            guard try head.lineEnd(at: cursor, orElse: .malformedStartLine) != nil else { return nil }
            throw .malformedStartLine
        // The type of a record that holds a handshake (RFC 8446 §5.1).
        case 0x16 where cursor == start: throw .handshake
        default: throw .malformedMethod
        }
    }

    /// A method that everybody knows, and the space behind it, looked at together: letter by letter that cost a request 150
    /// instructions.
    @inline(__always)
    private static func usualMethod(
        of head: Span<UInt8>, from start: Int
    ) -> (method: HTTPMethod, end: Int)? {
        guard start &+ 8 <= head.count else { return nil }
        let word = head.word(at: start)
        switch word & 0xFFFF_FFFF {
        case 0x20_54_45_47: return (.get, start &+ 3)
        case 0x20_54_55_50: return (.put, start &+ 3)
        case 0x54_53_4F_50 where word &>> 32 & 0xFF == 0x20: return (.post, start &+ 4)
        case 0x44_41_45_48 where word &>> 32 & 0xFF == 0x20: return (.head, start &+ 4)
        case 0x43_54_41_50 where word &>> 32 & 0xFFFF == 0x20_48: return (.patch, start &+ 5)
        case 0x45_4C_45_44 where word &>> 32 & 0xFF_FFFF == 0x20_45_54: return (.delete, start &+ 6)
        case 0x49_54_50_4F where word &>> 32 == 0x20_53_4E_4F: return (.options, start &+ 7)
        default: return nil
        }
    }

    private static func endOfTarget(
        _ head: Span<UInt8>, from start: Int, limit: Int
    ) throws(HTTPParseError) -> Int? {
        var cursor = start
        while cursor < head.count, head[cursor].isTargetCharacter { cursor &+= 1 }
        guard cursor &- start <= limit else { throw .targetTooLong }
        guard cursor < head.count else { return nil }
        switch head[cursor] {
        case Byte.space where cursor > start: return cursor
        case Byte.space: throw .whitespaceInTarget
        case Byte.numberSign: throw .fragmentInTarget
        case Byte.lineFeed: throw .bareLineFeed
        case Byte.carriageReturn:
            guard try head.lineEnd(at: cursor, orElse: .malformedStartLine) != nil else { return nil }
            throw .malformedStartLine
        default: throw .controlByteInTarget
        }
    }

    /// Parses the version; a word before it means that the target contained a space.
    private static func version(
        _ head: Span<UInt8>, at start: Int
    ) throws(HTTPParseError) -> (version: HTTPVersion, end: Int)? {
        var cursor = start
        while cursor < head.count, head[cursor].isTargetCharacter { cursor &+= 1 }
        guard cursor < head.count else { return nil }
        guard head[cursor] != Byte.space else { throw .whitespaceInTarget }
        return try head.version(at: start)
    }
}

extension HTTPMethod {
    /// Makes the method that the token spells.
    fileprivate init(_ token: Span<UInt8>) {
        var bytes: [UInt8] = []
        bytes.append(token)
        self.init(rawValue: String(decoding: bytes, as: UTF8.self))
    }
}
