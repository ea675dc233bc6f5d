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
        guard let methodEnd = try endOfMethod(head, from: start) else { return nil }
        let target = methodEnd &+ 1
        guard let targetEnd = try endOfTarget(head, from: target, limit: limits.uriBytes) else { return nil }
        guard let (version, versionEnd) = try version(head, at: targetEnd &+ 1) else { return nil }
        guard let end = try head.lineEnd(at: versionEnd, orElse: .malformedStartLine) else { return nil }
        let method = HTTPMethod(head.extracting(start..<methodEnd))
        return (RequestLine(method: method, target: target..<targetEnd, version: version), end)
    }

    /// The method at the front of a head that is faulty or incomplete; nil if it cannot be read.
    static func method(of head: Span<UInt8>) -> HTTPMethod? {
        guard let start = try? skipEmptyLine(head), let end = try? endOfMethod(head, from: start) else {
            return nil
        }
        return HTTPMethod(head.extracting(start..<end))
    }

    private static func skipEmptyLine(_ head: Span<UInt8>) throws(HTTPParseError) -> Int? {
        guard !head.isEmpty else { return nil }
        guard head[0] == Byte.carriageReturn else { return 0 }
        return try head.lineEnd(at: 0, orElse: .malformedStartLine)
    }

    private static func endOfMethod(_ head: Span<UInt8>, from start: Int) throws(HTTPParseError) -> Int? {
        if let end = endOfUsualMethod(head, from: start) { return end }
        let cursor = head.endOfToken(from: start)
        guard cursor &- start <= longestMethod else { throw .methodTooLong }
        guard cursor < head.count else { return nil }
        switch head[cursor] {
        case Byte.space where cursor > start: return cursor
        case Byte.lineFeed: throw .bareLineFeed
        case Byte.carriageReturn:
            guard try head.lineEnd(at: cursor, orElse: .malformedStartLine) != nil else { return nil }
            throw .malformedStartLine
        // The type of a record that holds a handshake (RFC 8446 §5.1).
        case 0x16 where cursor == start: throw .handshake
        default: throw .malformedMethod
        }
    }

    /// The end of a method that everybody knows, which needs no look at each letter.
    private static func endOfUsualMethod(_ head: Span<UInt8>, from start: Int) -> Int? {
        let longest = min(start &+ 8, head.count)
        var cursor = start
        while cursor < longest, head[cursor] != Byte.space { cursor &+= 1 }
        guard cursor < longest, HTTPMethod(usual: head.extracting(start..<cursor)) != nil else { return nil }
        return cursor
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
    /// Makes the method that the token spells; the common ones without allocating a string.
    init(_ token: Span<UInt8>) {
        if let usual = HTTPMethod(usual: token) {
            self = usual
        } else {
            var bytes: [UInt8] = []
            bytes.append(token)
            self.init(rawValue: String(decoding: bytes, as: UTF8.self))
        }
    }

    /// Makes a method that everybody knows; nil if this is none.
    @inline(__always)
    fileprivate init?(usual token: Span<UInt8>) {
        // A first byte of zero would not be seen in the number.
        guard !token.isEmpty, token.count < 8, token[0] != 0 else { return nil }
        switch token.asNumber {
        case 0x47_45_54: self = .get
        case 0x50_55_54: self = .put
        case 0x50_4F_53_54: self = .post
        case 0x48_45_41_44: self = .head
        case 0x50_41_54_43_48: self = .patch
        case 0x44_45_4C_45_54_45: self = .delete
        case 0x4F_50_54_49_4F_4E_53: self = .options
        default: return nil
        }
    }
}

extension Span<UInt8> {
    /// Up to eight letters as one number, the first in the highest bits.
    @inline(__always)
    fileprivate var asNumber: UInt64 {
        var number: UInt64 = 0
        for index in 0..<count { number = number &<< 8 | UInt64(self[index]) }
        return number
    }
}
