// SPDX-License-Identifier: Apache-2.0

/// The lines of the section `admin` in a text that is no YAML as a whole.
enum AdminExcerpt {
    /// The section's key and all lines that are indented deeper; nil if no line has the key.
    ///
    /// A tab counts as indentation here, so that a section with a tab in it stays together and is refused as a whole.
    static func lines(of text: [UInt8]) -> [UInt8]? {
        let lines = text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text[...]
        var margin: Int?
        var section: [UInt8]?
        for line in lines.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let content = line.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard let first = content.first, first != UInt8(ascii: "#"), first != UInt8(ascii: "\r") else {
                continue
            }
            let indent = content.startIndex - line.startIndex
            guard indent > 0 || !(line.starts(with: "---".utf8) || first == UInt8(ascii: "%")) else {
                continue
            }
            let isOutermost = indent <= margin ?? indent
            margin = margin ?? indent
            if isOutermost, section != nil { break }
            if isOutermost, isAdminKey(content) { section = [] }
            section?.append(contentsOf: line + [UInt8(ascii: "\n")])
        }
        return section
    }

    private static func isAdminKey(_ line: ArraySlice<UInt8>) -> Bool {
        for key in ["admin", "\"admin\"", "'admin'"] where line.starts(with: key.utf8) {
            let rest = line.dropFirst(key.utf8.count).drop { $0 == UInt8(ascii: " ") }
            guard rest.first == UInt8(ascii: ":") else { return false }
            let next = rest.dropFirst().first
            return next == nil || [" ", "\t", "\r"].contains { next == $0.utf8.first }
        }
        return false
    }
}
