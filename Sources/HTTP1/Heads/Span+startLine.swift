// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem

extension Span<UInt8> {
    /// Parses the protocol version at `start`, and returns it with the offset of its end.
    ///
    /// - Returns: nil if the bytes end too early to tell.
    /// - Throws: `malformedVersion`, or `unsupportedVersion` for digits other than 1.0 and 1.1.
    func version(at start: Int) throws(HTTPParseError) -> (version: HTTPVersion, end: Int)? {
        if start &+ 8 < count, word(at: start) == Self.http11, !isVersionCharacter(at: start &+ 8) {
            return (.http11, start &+ 8)
        }
        let name = "HTTP/".utf8.span
        for offset in 0..<name.count {
            guard start &+ offset < count else { return nil }
            guard self[start &+ offset] == name[offset] else { throw .malformedVersion }
        }
        var cursor = start &+ name.count
        while cursor < count, isVersionCharacter(at: cursor) { cursor &+= 1 }
        guard cursor < count else { return nil }
        let digits = start &+ name.count
        guard cursor > digits, self[digits].isDigit, self[cursor &- 1].isDigit else {
            throw .malformedVersion
        }
        guard cursor == digits &+ 3, self[digits] == Byte.zero &+ 1, self[digits &+ 1] == Byte.dot else {
            throw .unsupportedVersion
        }
        switch self[digits &+ 2] {
        case Byte.zero: return (.http10, cursor)
        case Byte.zero &+ 1: return (.http11, cursor)
        default: throw .unsupportedVersion
        }
    }

    /// `HTTP/1.1`, with the first letter in the lowest bits.
    private static var http11: UInt64 { 0x312E_312F_5054_5448 }

    private func isVersionCharacter(at index: Int) -> Bool { self[index].isDigit || self[index] == Byte.dot }

    /// The offset of the next line, if CR LF is at `cursor`; nil if the bytes end first.
    ///
    /// - Throws: `bareLineFeed`, `bareCarriageReturn`, or `other` for any other byte.
    func lineEnd(at cursor: Int, orElse other: HTTPParseError) throws(HTTPParseError) -> Int? {
        guard cursor < count else { return nil }
        guard self[cursor] == Byte.carriageReturn else {
            throw self[cursor] == Byte.lineFeed ? .bareLineFeed : other
        }
        guard cursor &+ 1 < count else { return nil }
        guard self[cursor &+ 1] == Byte.lineFeed else { throw .bareCarriageReturn }
        return cursor &+ 2
    }
}
