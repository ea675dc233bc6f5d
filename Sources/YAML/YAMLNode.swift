// SPDX-License-Identifier: Apache-2.0

/// A value of a YAML document and its place.
package struct YAMLNode: Equatable, Sendable {
    package indirect enum Content: Equatable, Sendable {
        case scalar(YAMLScalar)
        case sequence([YAMLNode])
        case mapping(YAMLMapping)
    }

    /// The beginning of the value; for an alias, that of the anchor's value.
    package let mark: Mark
    package let content: Content

    package init(_ content: Content, at mark: Mark) {
        self.content = content
        self.mark = mark
    }

    /// Reads one document.
    ///
    /// - Returns: the document's value; nil if it is empty or has only comments.
    /// - Throws: the first violation of YAML or of the limits.
    package static func parse(
        _ bytes: [UInt8], limits: YAMLLimits = YAMLLimits()
    ) throws(YAMLError) -> YAMLNode? {
        guard bytes.count <= limits.bytes
        else { throw YAMLError(mark: .start, reason: .tooLarge(limit: limits.bytes)) }
        if let offset = UTF8Check.firstInvalidByte(in: bytes) {
            throw YAMLError(mark: Mark(of: offset, in: bytes), reason: .notUTF8)
        }
        var composer = YAMLComposer(parser: try YAMLParser(bytes), limits: limits)
        return try composer.document()
    }
}
