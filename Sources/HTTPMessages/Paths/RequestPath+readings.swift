// SPDX-License-Identifier: Apache-2.0

extension RequestPath {
    /// How many bytes all readings of a path may have together; beyond that it is not worth what it costs.
    private static let longestReadings = 32_768

    /// Every way in which upstreams may read a whole path, for judging whether it may be asked for: what is allowed must be
    /// so in each of them.
    ///
    /// - Parameter path: of an origin-form target, without its query.
    /// - Returns: normal forms with canonical escapes (``PercentEncoding/canonical(_:)``), and last the path as its bytes
    ///   stand; none where an upstream may make anything of it, or it ``hasOddSegment(_:)``.
    package static func readings(of path: Span<UInt8>) -> [[UInt8]] {
        var whole: [UInt8] = []
        whole.append(path)
        guard !isNormal(path) else { return [whole] }
        guard !hasOddSegment(path) else { return [] }
        let traits = PathTraits(of: path)
        let variants = traits.variants.subsets
        let end = firstEncodedEnd(of: path)
        // Parameters and what may end a segment or the path in them: what comes first, servers do not agree on.
        guard variants.count == 1 || !traits.hasParameters && end == nil,
            variants.count * path.count <= longestReadings
        else { return [] }
        var readings = variants.map { resolve(path, asOnesThatRead: $0, upTo: .max) }
        // Some end a path at an escape that would end it as the byte.
        if let end { readings.append(resolve(path.extracting(0..<end), asOnesThatRead: .usual, upTo: .max)) }
        return readings.map(PercentEncoding.canonical) + [PercentEncoding.upperCased(whole)]
    }

    /// Whether a path has a segment that is empty or a dot segment to some upstream, whatever that takes for the end of one
    /// and decodes before; a slash at the end of the path makes no segment.
    package static func hasOddSegment(_ path: Span<UInt8>) -> Bool {
        var name = SegmentName()
        var cursor = 0
        while cursor < path.count {
            let decoded = path.percentDecoded(at: cursor)
            switch decoded ?? path[cursor] {
            case Byte.slash, Byte.backslash:
                if cursor > 0, name.isEmpty || name.isDots { return true }
                name = SegmentName()
            case Byte.semicolon: name.isWhole = true
            // Some end the path here.
            case Byte.questionMark, Byte.numberSign, 0:
                if name.isDots { return true }
                name.append(0)
            case let byte: name.append(byte)
            }
            cursor += decoded == nil ? 1 : 3
        }
        return name.isDots
    }

    /// What is of interest in a segment, its `;parameters` left out.
    private struct SegmentName {
        private var count = 0
        private var dotCount = 0
        /// Whether what follows are parameters.
        var isWhole = false

        var isEmpty: Bool { count == 0 }
        var isDots: Bool { count == dotCount && (1...2).contains(count) }

        mutating func append(_ byte: UInt8) {
            guard !isWhole else { return }
            count += 1
            if byte == Byte.dot { dotCount += 1 }
        }
    }

    /// Where `%00`, `%23` or `%3f` stands first.
    private static func firstEncodedEnd(of path: Span<UInt8>) -> Int? {
        path.indices.first { index in
            switch path.percentDecoded(at: index) {
            case Byte.questionMark?, Byte.numberSign?, 0?: true
            default: false
            }
        }
    }
}
