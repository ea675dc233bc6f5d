// SPDX-License-Identifier: Apache-2.0

/// A pattern for paths: `*` matches anything within a segment, a segment `**` any number of segments.
///
/// `/orders/**` matches `/orders` too. A final slash counts: `/orders` and `/orders/` are two paths. Matching costs
/// at most the product of both lengths, and no more than the path's where no segment has two wildcards and no `**` is followed by several.
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
        case literal([SegmentedPath.Character])
        /// Has at least one `*`.
        case wild([SegmentedPath.Character])
        /// `**`.
        case any

        var isAny: Bool { if case .any = self { true } else { false } }
    }

    private let segments: [Segment]
    /// True if it has a `**`, so that paths of any number of segments may match.
    private let isDeep: Bool
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
        isDeep = segments.contains(where: \.isAny)
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
        let characters = SegmentedPath.characters(of: canonical)
        return canonical.contains(Byte.asterisk) ? .wild(characters) : .literal(characters)
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
    package func matches(_ path: [UInt8]) -> Bool { SegmentedPath(path).map(matches) ?? false }

    /// The same for a path that was cut before.
    func matches(_ path: SegmentedPath) -> Bool {
        let parts = path.segments
        guard isDeep || parts.count == segments.count else { return false }
        return Wildcard.matches(
            parts.count, segments.count, isWild: { segments[$0].isAny },
            isEqual: { Self.matches(segments[$1], parts[$0]) })
    }

    private static func matches(_ segment: Segment, _ part: [SegmentedPath.Character]) -> Bool {
        switch segment {
        case .any: true
        case .literal(let characters): part == characters
        case .wild(let pattern): !part.isEmpty && matches(pattern, part)
        }
    }

    private static func matches(
        _ pattern: [SegmentedPath.Character], _ part: [SegmentedPath.Character]
    ) -> Bool {
        let wildcard = SegmentedPath.Character(Byte.asterisk)
        guard let first = pattern.firstIndex(of: wildcard), let last = pattern.lastIndex(of: wildcard) else {
            return false
        }
        let (begin, end) = (pattern[..<first], pattern[(last + 1)...])
        guard part.count >= begin.count + end.count, part.starts(with: begin),
            part.suffix(end.count).elementsEqual(end)
        else { return false }
        let (middle, rest) = (pattern[first...last], part.dropFirst(begin.count).dropLast(end.count))
        return first == last
            || Wildcard.matches(
                rest.count, middle.count, isWild: { middle[middle.startIndex + $0] == wildcard },
                isEqual: { rest[rest.startIndex + $0] == middle[middle.startIndex + $1] })
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
