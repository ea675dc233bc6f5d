// SPDX-License-Identifier: Apache-2.0

extension RequestPath {
    /// The most bytes of all readings of a path together; more would cost too much.
    private static let longestReadings = 32_768

    /// All the ways in which upstreams may read a whole path; a path is allowed only if it is allowed in each of
    /// them.
    ///
    /// - Parameter path: of an origin-form target, without its query.
    /// - Returns: normal forms and last the path as it is, all in their canonical spelling (``canonical(_:)``); none if
    ///   the readings cannot be enumerated, or it ``hasOddSegment(_:)``.
    package static func readings(of path: Span<UInt8>) -> [[UInt8]] {
        guard !isNormal(path) else { return hasOddCharacter(path) ? [] : [canonical(path)] }
        guard !hasOddSegment(path) else { return [] }
        let traits = PathTraits(of: path)
        let variants = traits.variants.subsets
        let end = traits.encodedEnd
        // With parameters, servers do not agree on what ends a segment or the path first.
        guard variants.count == 1 || !traits.hasParameters && end == nil,
            variants.count * path.count <= longestReadings
        else { return [] }
        var readings = variants.map { resolve(path, asOnesThatRead: $0, upTo: .max) }
        // Some servers end a path at the escape of a byte that ends it.
        if let end { readings.append(resolve(path.extracting(0..<end), asOnesThatRead: .usual, upTo: .max)) }
        return readings + [canonical(path)]
    }

    /// A path that was decoded so often is odd if nothing said so before, because there is no end to it.
    private static let mostDecodings = 4

    /// Returns true if some upstream sees an empty segment or a dot segment in a path, however it decodes and splits
    /// it, or may see one in a character; a final slash makes no segment.
    ///
    /// Some decode what was decoded before them once more: in what they see dot segments count, but empty ones do not, which
    /// URLs in names have.
    package static func hasOddSegment(_ path: Span<UInt8>) -> Bool {
        if hasOddSegment(path, emptyCounts: true) || hasOddCharacter(path) { return true }
        guard path.indices.contains(where: { path[$0] == Byte.percent }) else { return false }
        var bytes = decode(path)
        for _ in 1..<mostDecodings {
            if hasOddSegment(bytes.span, emptyCounts: false) || hasOddCharacter(bytes.span) { return true }
            let next = decode(bytes.span)
            // Decoding shortens a path, or changes nothing; an escape may be made of what stood beside a lone `%`.
            guard next.count < bytes.count else { return false }
            bytes = next
        }
        return true
    }

    /// Returns true if a character is written in a way in which some servers read any other, such as a dot or a slash: as
    /// `%u002e`, or in more bytes than UTF-8 allows (RFC 3629 §3).
    private static func hasOddCharacter(_ bytes: Span<UInt8>) -> Bool {
        for index in bytes.indices {
            let next = index + 1 < bytes.count ? bytes[index + 1] : 0
            switch bytes[index] {
            case Byte.percent where next.asciiLowercased == UInt8(ascii: "u"):
                let digits = index + 2..<max(index + 2, min(index + 6, bytes.count))
                if digits.count == 4, digits.allSatisfy({ bytes[$0].hexadecimalValue != nil }) { return true }
            case 0xC0, 0xC1: return true
            case 0xE0: if 0x80..<0xA0 ~= next { return true }
            case 0xF0: if 0x80..<0x90 ~= next { return true }
            case 0xF8: if 0x80..<0x88 ~= next { return true }
            case 0xFC: if 0x80..<0x84 ~= next { return true }
            default: continue
            }
        }
        return false
    }

    /// The path with every escape decoded once.
    private static func decode(_ path: Span<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var cursor = 0
        while cursor < path.count {
            let decoded = path.percentDecoded(at: cursor)
            bytes.append(decoded ?? path[cursor])
            cursor += decoded == nil ? 1 : 3
        }
        return bytes
    }

    private static func hasOddSegment(_ path: Span<UInt8>, emptyCounts: Bool) -> Bool {
        var name = SegmentName()
        var cursor = 0
        while cursor < path.count {
            let decoded = path.percentDecoded(at: cursor)
            switch decoded ?? path[cursor] {
            case Byte.slash, Byte.backslash:
                if cursor > 0, name.isEmpty && emptyCounts || name.isDots { return true }
                name = SegmentName()
            case Byte.semicolon: name.isWhole = true
            // Some servers end the path here.
            case Byte.questionMark, Byte.numberSign, 0:
                if name.isDots { return true }
                name.append(0)
            case let byte: name.append(byte)
            }
            cursor += decoded == nil ? 1 : 3
        }
        return name.isDots
    }

    /// The relevant facts about a segment's name, without `;parameters`.
    private struct SegmentName {
        private var count = 0
        private var dotCount = 0
        private var spaceCount = 0
        /// True once parameters have begun.
        var isWhole = false

        var isEmpty: Bool { count == 0 }
        /// True for `.` and `..`, and for dots with spaces, which some servers drop at a name's end.
        var isDots: Bool {
            dotCount > 0 && count == dotCount + spaceCount && (spaceCount > 0 || count <= 2)
        }

        mutating func append(_ byte: UInt8) {
            guard !isWhole else { return }
            count += 1
            if byte == Byte.dot { dotCount += 1 }
            if byte == Byte.space { spaceCount += 1 }
        }
    }
}
