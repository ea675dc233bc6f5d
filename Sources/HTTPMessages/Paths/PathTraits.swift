// SPDX-License-Identifier: Apache-2.0

/// The parts of a path that servers read in different ways.
struct PathTraits {
    /// True if a segment is `.` or `..`, plain or percent-encoded, in any reading.
    private(set) var hasDotSegment = false
    /// True if some servers end a segment, its name or the path where others do not: at `\`, `//`, `;`, and
    /// percent-encoded `/`, `\`, `;`, `?`, `#` and NUL.
    private(set) var hasDoubtfulEnd = false
    /// The options that must be tried both ways, because they could lead to different routes.
    private(set) var doubts: PathReading = []
    /// The options that change the number of segments, even if not the route.
    private(set) var variants: PathReading = []
    /// True if a segment has `;parameters`.
    private(set) var hasParameters = false
    /// True if a delimiter is percent-encoded that may stand in a segment as it is.
    private(set) var hasEncodedDelimiter = false
    /// The index of the first `%00`, `%23` or `%3f`, at whose byte some servers end a path.
    private(set) var encodedEnd: Int?

    init(of path: Span<UInt8>) {
        var found: PathReading = []
        var hasPlainDotSegment = false
        var start = 0
        var cursor = 0
        while cursor < path.count {
            let here = cursor
            let decoded = path.percentDecoded(at: here)
            cursor += decoded == nil ? 1 : 3
            switch (path[here], decoded) {
            case (Byte.slash, _):
                if here > 0, path[here - 1] == Byte.slash { hasDoubtfulEnd = true }
            case (Byte.backslash, _): found.insert(.backslash)
            case (Byte.semicolon, _): hasParameters = true
            case (_, Byte.backslash): found.insert(.encodedBackslash)
            case (_, Byte.slash): found.insert(.encodedSlash)
            case (_, Byte.semicolon): found.insert(.encodedSemicolon)
            case (_, Byte.questionMark), (_, Byte.numberSign), (_, 0):
                hasDoubtfulEnd = true
                encodedEnd = encodedEnd ?? here
            case (_, let byte?):
                if byte.isPathDelimiter { hasEncodedDelimiter = true }
                continue
            case (_, nil): continue
            }
            note(path, start..<here, hasPlain: &hasPlainDotSegment)
            start = cursor
        }
        note(path, start..<path.count, hasPlain: &hasPlainDotSegment)
        if hasParameters || !found.isEmpty { hasDoubtfulEnd = true }
        // Parameters reach to the end of a segment, and servers differ in what ends it there.
        if hasParameters || found.contains(.encodedSemicolon) { doubts = found }
        variants = found
        // If all dot segments are encoded, servers that do not decode them never go up.
        if hasPlainDotSegment { doubts.insert(.encodedDot) }
        variants.formUnion(doubts)
    }

    private mutating func note(_ path: Span<UInt8>, _ segment: Range<Int>, hasPlain: inout Bool) {
        guard Self.dots(of: path, in: segment) != nil else { return }
        hasDotSegment = true
        if path[segment.lowerBound] == Byte.dot, segment.count <= 2 { hasPlain = true }
    }

    /// The number of dots of a dot segment, plain or percent-encoded.
    ///
    /// - Returns: 1 or 2; nil if it is no dot segment.
    static func dots(of path: Span<UInt8>, in segment: Range<Int>) -> Int? {
        var count = 0
        var cursor = segment.lowerBound
        while cursor < segment.upperBound {
            if path[cursor] == Byte.dot {
                cursor += 1
            } else if path.percentDecoded(at: cursor) == Byte.dot {
                cursor += 3
            } else {
                return nil
            }
            count += 1
            guard count <= 2 else { return nil }
        }
        return count > 0 ? count : nil
    }
}

extension Span<UInt8> {
    /// The byte that `%` and two hexadecimal digits at `index` stand for; nil if there is no escape (RFC 3986 §2.1).
    func percentDecoded(at index: Int) -> UInt8? {
        guard self[index] == Byte.percent, index + 2 < count, let high = self[index + 1].hexadecimalValue,
            let low = self[index + 2].hexadecimalValue
        else { return nil }
        return high << 4 | low
    }
}
