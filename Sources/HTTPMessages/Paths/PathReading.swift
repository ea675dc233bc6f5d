// SPDX-License-Identifier: Apache-2.0

/// One way to read a path: what in it counts, beside `/`, `;` and plain dots.
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

    /// What most servers do that decode a path before they take it apart.
    static let usual: PathReading = [.backslash, .encodedBackslash, .encodedSlash, .encodedDot]

    /// Every combination of these with what ``usual`` says of the others.
    ///
    /// Their number is bounded: 32.
    var subsets: [PathReading] {
        (0..<32).map(PathReading.init).filter { $0.subtracting(self) == Self.usual.subtracting(self) }
    }
}
