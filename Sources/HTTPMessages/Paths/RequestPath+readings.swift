// SPDX-License-Identifier: Apache-2.0

extension RequestPath {
    /// How many bytes all readings of a path may have together; beyond that it is not worth what it costs.
    private static let longestReadings = 32_768

    /// Every way in which upstreams may read a whole path, for judging whether it may be asked for: what is allowed must be
    /// so in each of them.
    ///
    /// - Parameter path: of an origin-form target, without its query.
    /// - Returns: normal forms with canonical escapes (``PercentEncoding/canonical(_:)``); none where an upstream may make
    ///   anything of it.
    package static func readings(of path: Span<UInt8>) -> [[UInt8]] {
        guard !isNormal(path) else {
            var whole: [UInt8] = []
            whole.append(path)
            return [whole]
        }
        let traits = PathTraits(of: path)
        guard !traits.hasDotSegment || !traits.hasDoubtfulEnd else { return [] }
        let variants = traits.variants.subsets
        let end = firstEncodedEnd(of: path)
        // Parameters and what may end a segment or the path in them: what comes first, servers do not agree on.
        guard variants.count == 1 || !traits.hasParameters && end == nil,
            variants.count * path.count <= longestReadings
        else { return [] }
        var readings = variants.map { resolve(path, asOnesThatRead: $0, upTo: .max) }
        // Some end a path at an escape that would end it as the byte.
        if let end { readings.append(resolve(path.extracting(0..<end), asOnesThatRead: .usual, upTo: .max)) }
        return readings.map(PercentEncoding.canonical)
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
