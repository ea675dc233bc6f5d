// SPDX-License-Identifier: Apache-2.0

/// A way in which a server may read a path: the bytes that count besides `/`, `;` and plain dots.
struct PathReading: OptionSet {
    let rawValue: UInt8

    /// `\` ends a segment.
    static let backslash = PathReading(rawValue: 1)
    /// `%5c` ends a segment.
    static let encodedBackslash = PathReading(rawValue: 2)
    /// `%2f` ends a segment.
    static let encodedSlash = PathReading(rawValue: 4)
    /// `%3b` begins a segment's parameters.
    static let encodedSemicolon = PathReading(rawValue: 8)
    /// `%2e` is a dot.
    static let encodedDot = PathReading(rawValue: 16)
    /// `%3a` is a colon, and so with the other delimiters that a segment may have as they are, but `;` (RFC 3986 §2.2).
    static let encodedDelimiter = PathReading(rawValue: 32)

    /// The reading of most servers that decode a path before they split it.
    static let usual: PathReading = [.backslash, .encodedBackslash, .encodedSlash, .encodedDot]

    /// All combinations of these options, at most 32, with the ``usual`` setting of the others; none of delimiters.
    var subsets: [PathReading] {
        (0..<32).map(PathReading.init).filter { $0.subtracting(self) == Self.usual.subtracting(self) }
    }
}
