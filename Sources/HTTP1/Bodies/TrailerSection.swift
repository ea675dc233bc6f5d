// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem

/// Collects and validates the trailer fields behind the last chunk (RFC 9112 §7.1.2).
struct TrailerSection: Sendable {
    private let limit: Int
    private var bytes: [UInt8] = []
    private var scanner = HeadScanner(maxFields: HeadLimits().maxFields)
    private(set) var fields = HTTPFields()

    init(limit: Int) {
        self.limit = limit
    }

    /// Takes bytes from `start` on.
    ///
    /// - Returns: the offset at which the section ended; nil if all bytes were taken and it goes on.
    mutating func read(_ input: Span<UInt8>, from start: Int) throws(HTTPParseError) -> Int? {
        var cursor = start
        while cursor < input.count {
            let lineFeed = input.firstIndex(of: Byte.lineFeed, in: cursor..<input.count)
            let next = lineFeed.map { $0 &+ 1 } ?? input.count
            guard bytes.count + next - cursor <= limit else { throw .trailersTooLarge }
            bytes.append(input.extracting(cursor..<next))
            cursor = next
            guard lineFeed != nil else { return nil }
            let section = bytes
            guard let end = try end(of: section.span) else { continue }
            scanner.finish(section.span.extracting(first: end), into: &fields)
            fields.removeForbiddenTrailers()
            return cursor
        }
        return nil
    }

    private mutating func end(of section: Span<UInt8>) throws(HTTPParseError) -> Int? {
        do throws(HTTPParseError) {
            return try scanner.scanFields(of: section)
        } catch {
            throw error == .tooManyFields || error == .headTooLarge ? .trailersTooLarge : error
        }
    }
}
