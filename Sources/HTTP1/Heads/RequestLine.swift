// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

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
        var cursor = start
        while cursor < head.count, head[cursor].isTokenCharacter {
            cursor &+= 1
            guard cursor &- start <= longestMethod else { throw .methodTooLong }
        }
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
        switch token.count {
        case 3 where token.equals(HTTPMethod.get): self = .get
        case 3 where token.equals(HTTPMethod.put): self = .put
        case 4 where token.equals(HTTPMethod.post): self = .post
        case 4 where token.equals(HTTPMethod.head): self = .head
        case 5 where token.equals(HTTPMethod.patch): self = .patch
        case 6 where token.equals(HTTPMethod.delete): self = .delete
        case 7 where token.equals(HTTPMethod.options): self = .options
        default:
            var bytes: [UInt8] = []
            bytes.append(token)
            self.init(rawValue: String(decoding: bytes, as: UTF8.self))
        }
    }
}

extension Span<UInt8> {
    fileprivate func equals(_ method: HTTPMethod) -> Bool {
        let expected = method.rawValue.utf8.span
        guard count == expected.count else { return false }
        for index in 0..<count where self[index] != expected[index] {
            return false
        }
        return true
    }
}
