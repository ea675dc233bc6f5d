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
            guard let end = try scanner.scanFields(of: section.span) else { continue }
            scanner.finish(section.span.extracting(first: end), into: &fields)
            fields.removeForbiddenTrailers()
            return cursor
        }
        return nil
    }
}

extension HTTPFields {
    /// Fields that must not follow the content: framing, routing, authentication, request modifiers,
    /// description of the content, connection fields (RFC 9110 §6.5.1).
    private static let forbiddenTrailers: UInt64 = [
        KnownFieldName.transferEncoding, .contentLength, .trailer, .te, .host, .authorization,
        .wwwAuthenticate,
        .proxyAuthenticate, .proxyAuthorization, .proxyAuthenticationInfo, .cookie, .setCookie, .bearerdKey,
        .bearerdAdmin, .cacheControl, .expect, .maxForwards, .range, .contentEncoding, .contentType,
        .contentRange,
        .connection, .keepAlive, .proxyConnection, .upgrade, .http2Settings, .age, .date, .location,
        .retryAfter,
        .vary, .origin, .forwarded, .xForwardedFor, .xForwardedHost, .xForwardedProto, .via,
    ].reduce(0) { $0 | $1.bit }

    fileprivate mutating func removeForbiddenTrailers() {
        guard present & Self.forbiddenTrailers != 0 else { return }
        removeEntries { Self.forbiddenTrailers & $1.known.bit != 0 }
    }
}
