// SPDX-License-Identifier: Apache-2.0

/// A pattern for paths: `*` matches anything within a segment, a segment `**` any number of segments.
///
/// `/orders/**` matches `/orders` too. A final slash counts: `/orders` and `/orders/` are two paths. Matching costs
/// at most the product of both lengths.
package struct PathPattern: Sendable, Equatable {
    /// The reason why a text is no pattern.
    package enum Fault: Error, Equatable, Sendable {
        /// It does not begin with a slash.
        case relative
        /// `**` and something else in one segment.
        case mixedSegment
        /// Something that no normal path has: an empty segment, a dot segment in any spelling, `;`, `\`, `?`, `#`, a
        /// control character or a space.
        case unmatchable
    }

    private enum Segment: Equatable {
        case literal([UInt8])
        /// Has at least one `*`.
        case wild([UInt8])
        /// `**`.
        case any
    }

    private let segments: [Segment]
    /// The pattern as written.
    package let text: String

    package init(_ text: String) throws(Fault) {
        guard text.utf8.first == Byte.slash else { throw .relative }
        self.text = text
        let parts = text.utf8.dropFirst().split(separator: Byte.slash, omittingEmptySubsequences: false)
        var segments: [Segment] = []
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            segments.append(try Self.segment(Array(part), isLast: isLast))
        }
        self.segments = segments
    }

    private static func segment(_ bytes: [UInt8], isLast: Bool) throws(Fault) -> Segment {
        let canonical = PercentEncoding.canonical(bytes.span, decodesUnreserved: true)
        guard !bytes.isEmpty || isLast, canonical != [Byte.dot], canonical != [Byte.dot, Byte.dot],
            !bytes.contains(where: { never.contains($0) || $0 <= Byte.space || $0 == 0x7F })
        else { throw .unmatchable }
        if bytes == [Byte.asterisk, Byte.asterisk] { return .any }
        for (one, next) in zip(bytes, bytes.dropFirst()) where one == Byte.asterisk && next == Byte.asterisk {
            throw .mixedSegment
        }
        return canonical.contains(Byte.asterisk) ? .wild(canonical) : .literal(canonical)
    }

    private static let never: Set<UInt8> = [
        Byte.semicolon, Byte.backslash, Byte.questionMark, Byte.numberSign,
    ]

    /// A path that matches, if one can be given without inventing a segment: nil if there is any `*` but a final
    /// `/**`.
    package var example: String? {
        let path = text.hasSuffix("/**") ? String(text.dropLast(3)) : text
        guard !path.utf8.contains(Byte.asterisk) else { return nil }
        return String(decoding: RequestPath.canonical(path.utf8.span), as: UTF8.self)
    }

    /// Returns true if the pattern matches a path.
    ///
    /// - Parameter path: in normal form, in its canonical spelling (``RequestPath/canonical(_:)``).
    package func matches(_ path: [UInt8]) -> Bool {
        guard path.first == Byte.slash else { return false }
        let parts = path.dropFirst().split(separator: Byte.slash, omittingEmptySubsequences: false)
        return Wildcard.matches(
            parts.count, segments.count, isWild: { segments[$0] == .any },
            isEqual: { Self.matches(segments[$1], parts[$0]) })
    }

    private static func matches(_ segment: Segment, _ part: ArraySlice<UInt8>) -> Bool {
        switch segment {
        case .any: return true
        case .literal(let bytes): return part.elementsEqual(bytes)
        case .wild(let bytes):
            guard !part.isEmpty else { return false }
            guard !part.contains(Byte.percent) else {
                return matches(characters(of: bytes[...]), characters(of: part), wildcard: [Byte.asterisk])
            }
            return matches(bytes, part, wildcard: Byte.asterisk)
        }
    }

    private static func matches<Element: Equatable>(
        _ pattern: [Element], _ part: some RandomAccessCollection<Element>, wildcard: Element
    ) -> Bool {
        let start = part.startIndex
        return Wildcard.matches(
            part.count, pattern.count, isWild: { pattern[$0] == wildcard },
            isEqual: { pattern[$1] == part[part.index(start, offsetBy: $0)] })
    }

    /// The characters of a segment: an escape is one, so that no wildcard stands for a piece of it.
    private static func characters(of segment: ArraySlice<UInt8>) -> [[UInt8]] {
        var characters: [[UInt8]] = []
        var rest = segment
        while let byte = rest.first {
            let escape = Array(rest.prefix(3))
            let length = byte == Byte.percent && escape.span.percentDecoded(at: 0) != nil ? 3 : 1
            characters.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return characters
    }
}

/// Matching with wildcards, each for any number of elements.
private enum Wildcard {
    /// Backtracks to the last wildcard only, which suffices: it can match all that an earlier one would.
    ///
    ///   - Parameter isWild: true for a wildcard, by its index in the pattern.
    ///   - Parameter isEqual: true if an element of the text equals one of the pattern, by their indices.
    static func matches(
        _ textCount: Int, _ patternCount: Int, isWild: (Int) -> Bool, isEqual: (Int, Int) -> Bool
    ) -> Bool {
        var (text, pattern) = (0, 0)
        var last: (text: Int, pattern: Int)?
        while text < textCount {
            if pattern < patternCount, isWild(pattern) {
                last = (text, pattern)
                pattern += 1
            } else if pattern < patternCount, isEqual(text, pattern) {
                text += 1
                pattern += 1
            } else if let back = last {
                last = (back.text + 1, back.pattern)
                (text, pattern) = (back.text + 1, back.pattern + 1)
            } else {
                return false
            }
        }
        while pattern < patternCount, isWild(pattern) { pattern += 1 }
        return pattern == patternCount
    }
}
