// SPDX-License-Identifier: Apache-2.0

/// A server that takes paths apart in one of the ways there are, for telling where a request arrives.
///
/// Written apart from the rules that it is to prove.
package struct PathReader: Sendable {
    /// The treatment of path parameters (`;…`).
    package enum Parameters: CaseIterable, Sendable {
        case kept
        /// Cut off each segment between slashes, before anything else ends a segment.
        case cutFirst
        case cutLast
        case separator
    }

    /// The segment separators beside the slash, in lower case: `\`, `%5c`, `%2f`.
    package var separators: Set<String>
    package var mergesSlashes: Bool
    package var parameters: Parameters
    /// True if `%3b` counts as a semicolon.
    package var decodesSemicolons: Bool
    /// True if percent-encoded unreserved characters, such as dots, are decoded.
    package var decodes: Bool
    /// True if the path ends at `%00`, `%23` or `%3f`.
    package var stopsAtEncodedEnds: Bool

    /// Every combination.
    package static let all: [PathReader] = {
        var all: [PathReader] = []
        for bits in 0..<64 {
            let separators = ["\\", "%5c", "%2f"].enumerated().filter { bits >> $0.offset & 1 == 1 }
            for parameters in Parameters.allCases {
                for decodesSemicolons in [false, true] {
                    all.append(
                        PathReader(
                            separators: Set(separators.map(\.element)), mergesSlashes: bits & 8 != 0,
                            parameters: parameters, decodesSemicolons: decodesSemicolons,
                            decodes: bits & 16 != 0, stopsAtEncodedEnds: bits & 32 != 0))
                }
            }
        }
        return all
    }()

    /// Where a path leads.
    ///
    /// - Returns: the segments of the place, and whether the way there went above the root.
    package func read(_ path: [UInt8]) -> (segments: [String], climbs: Bool) {
        var pieces: [String] = []
        for segment in text(of: path).split(separator: "/", omittingEmptySubsequences: false) {
            let first = parameters == .cutFirst ? withoutParameters(segment) : String(segment)
            for piece in parts(of: first) {
                pieces.append(parameters == .cutLast ? withoutParameters(Substring(piece)) : piece)
            }
        }
        // What is before the first slash.
        if pieces.first?.isEmpty == true { pieces.removeFirst() }
        return resolved(pieces)
    }

    private func text(of path: [UInt8]) -> String {
        // Bytes that are no ASCII end nothing.
        var text = String(decoding: path.map { $0 < 0x80 ? $0 : 0x7E }, as: UTF8.self)
        guard stopsAtEncodedEnds else { return text }
        for end in ["%00", "%23", "%3f", "%3F"] {
            if let range = text.firstRange(of: end) { text.removeSubrange(range.lowerBound...) }
        }
        return text
    }

    private func withoutParameters(_ segment: Substring) -> String {
        var segment = String(segment)
        for begin in decodesSemicolons ? [";", "%3b", "%3B"] : [";"] {
            if let range = segment.firstRange(of: begin) { segment.removeSubrange(range.lowerBound...) }
        }
        return segment
    }

    private func parts(of segment: String) -> [String] {
        var segment = segment
        var ends = separators.union(separators.map { $0.uppercased() })
        if parameters == .separator { ends.formUnion(decodesSemicolons ? [";", "%3b", "%3B"] : [";"]) }
        for end in ends { segment = segment.replacing(end, with: "/") }
        return segment.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    }

    private func resolved(_ pieces: [String]) -> (segments: [String], climbs: Bool) {
        var segments: [String] = []
        var climbs = false
        for (index, piece) in pieces.enumerated() {
            switch decodes ? decoded(piece) : piece {
            case ".": continue
            case "..": if segments.popLast() == nil { climbs = true }
            case "" where mergesSlashes || index == pieces.count - 1: continue
            case let name: segments.append(name)
            }
        }
        return (segments, climbs)
    }

    private func decoded(_ piece: String) -> String {
        guard piece.contains("%") else { return piece }
        var piece = piece
        for byte in Array("-._~".utf8) + Array(0x30...0x39) + Array(0x41...0x5A) + Array(0x61...0x7A) {
            let plain = String(decoding: [byte], as: UTF8.self)
            let code = String(byte, radix: 16)
            piece = piece.replacing("%" + code, with: plain)
            piece = piece.replacing("%" + code.uppercased(), with: plain)
        }
        return piece
    }
}
