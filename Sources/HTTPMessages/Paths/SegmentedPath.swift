// SPDX-License-Identifier: Apache-2.0

/// A path cut into the characters of its segments, once for all patterns that it is compared with.
///
/// An escape is one character, so that no wildcard stands for a piece of it.
struct SegmentedPath {
    /// A byte, or ``escaped`` and the byte that an escape spells.
    typealias Character = UInt16
    private static let escaped: Character = 0x100

    let segments: [[Character]]

    /// - Parameter path: one that begins with a slash, in its canonical spelling (``RequestPath/canonical(_:)``).
    init?(_ path: [UInt8]) {
        guard path.first == Byte.slash else { return nil }
        segments = path.dropFirst().split(separator: Byte.slash, omittingEmptySubsequences: false).map {
            Self.characters(of: Array($0))
        }
    }

    /// The characters of a segment.
    static func characters(of segment: [UInt8]) -> [Character] {
        guard segment.contains(Byte.percent) else { return segment.map(Character.init) }
        let bytes = segment.span
        var characters: [Character] = []
        characters.reserveCapacity(bytes.count)
        var cursor = 0
        while cursor < bytes.count {
            if let decoded = bytes.percentDecoded(at: cursor) {
                characters.append(escaped | Character(decoded))
                cursor += 3
            } else {
                characters.append(Character(bytes[cursor]))
                cursor += 1
            }
        }
        return characters
    }
}
