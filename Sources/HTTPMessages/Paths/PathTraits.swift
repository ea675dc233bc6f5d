// SPDX-License-Identifier: Apache-2.0

/// What in a path servers read differently.
struct PathTraits {
    /// Whether a segment is `.` or `..`, plain or percent-encoded, whatever is taken for the end of a segment.
    private(set) var hasDotSegment = false
    /// Whether there is something that some servers take for the end of a segment, of its name or of the path, and
    /// others do not: `\`, `//`, `;`, and percent-encoded `/`, `\`, `;`, `?`, `#` and NUL.
    private(set) var hasDoubtfulEnd = false
    /// What needs to be read in both ways, because it could lead to different routes.
    private(set) var doubts: PathReading = []
    /// What there is that can be read in two ways; it changes how many segments there are, if not the route.
    private(set) var variants: PathReading = []
    /// Whether a segment has `;parameters`.
    private(set) var hasParameters = false

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
            case (_, Byte.questionMark), (_, Byte.numberSign), (_, 0): hasDoubtfulEnd = true
            default: continue
            }
            note(path, start..<here, hasPlain: &hasPlainDotSegment)
            start = cursor
        }
        note(path, start..<path.count, hasPlain: &hasPlainDotSegment)
        if hasParameters || !found.isEmpty { hasDoubtfulEnd = true }
        // Parameters reach to the end of a segment: what is in them counts, or not.
        if hasParameters || found.contains(.encodedSemicolon) { doubts = found }
        variants = found
        // Where all dot segments are encoded, nobody who reads them in another way goes up at all.
        if hasPlainDotSegment { doubts.insert(.encodedDot) }
        variants.formUnion(doubts)
    }

    private mutating func note(_ path: Span<UInt8>, _ segment: Range<Int>, hasPlain: inout Bool) {
        guard Self.dots(of: path, in: segment) != nil else { return }
        hasDotSegment = true
        if path[segment.lowerBound] == Byte.dot, segment.count <= 2 { hasPlain = true }
    }

    /// How many dots a segment consists of, plain or percent-encoded.
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
    /// What `%` and two hexadecimal digits at `index` stand for; nil if something else is there (RFC 3986 §2.1).
    func percentDecoded(at index: Int) -> UInt8? {
        guard self[index] == Byte.percent, index + 2 < count, let high = self[index + 1].hexadecimalValue,
            let low = self[index + 2].hexadecimalValue
        else { return nil }
        return high << 4 | low
    }
}
