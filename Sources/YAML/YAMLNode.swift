// SPDX-License-Identifier: Apache-2.0

/// A value of a YAML document and where it stands.
package struct YAMLNode: Equatable, Sendable {
    /// What a value can be.
    package indirect enum Content: Equatable, Sendable {
        /// A single value.
        case scalar(YAMLScalar)
        /// A list.
        case sequence([YAMLNode])
        /// A map.
        case mapping(YAMLMapping)
    }

    /// Where the value begins; an alias's value stands where its anchor is.
    package let mark: Mark
    /// The value.
    package let content: Content

    /// A value at a place.
    package init(_ content: Content, at mark: Mark) {
        self.content = content
        self.mark = mark
    }

    /// Reads one document.
    ///
    /// - Parameters:
    ///   - bytes: UTF-8, with or without a byte order mark.
    ///   - limits: bounds on size, depth and number of values.
    /// - Returns: the document's value, nil when the text has none (empty, or comments alone).
    /// - Throws: the first place where the text is not one YAML document within the limits.
    package static func parse(
        _ bytes: [UInt8], limits: YAMLLimits = YAMLLimits()
    ) throws(YAMLError) -> YAMLNode? {
        guard bytes.count <= limits.bytes else {
            throw YAMLError(mark: .start, reason: .tooLarge(limit: limits.bytes))
        }
        if let offset = UTF8Check.firstInvalidByte(in: bytes) {
            throw YAMLError(mark: Mark(of: offset, in: bytes), reason: .notUTF8)
        }
        var composer = YAMLComposer(parser: try YAMLParser(bytes), limits: limits)
        return try composer.document()
    }
}
