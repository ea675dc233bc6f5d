// SPDX-License-Identifier: Apache-2.0

/// The path of a request target as an upstream may understand it, for choosing a route.
package enum RequestPath {
    /// The path with everything resolved that servers read differently: dot segments, empty segments, `\`,
    /// segments' `;parameters`, and percent-encoded unreserved characters, slashes and backslashes.
    ///
    /// - Parameter path: of an origin-form target, without its query.
    /// - Returns: nil if the path is normal as it is, which costs one look at each byte and no memory.
    package static func normalized(_ path: Span<UInt8>) -> [UInt8]? {
        guard !isNormal(path) else { return nil }
        var output: [UInt8] = []
        output.reserveCapacity(path.count + 1)
        var segment: [UInt8] = []
        var cursor = 0
        while cursor < path.count {
            let byte = decode(path, &cursor)
            if byte == Byte.slash || byte == Byte.backslash {
                _ = close(&segment, into: &output)
            } else {
                segment.append(byte)
            }
        }
        if close(&segment, into: &output) || output.isEmpty { output.append(Byte.slash) }
        return output
    }

    /// Whether a route's path is a prefix of this path on whole segments.
    ///
    /// - Parameters:
    ///   - prefix: begins with a slash; one at its end does not matter.
    ///   - path: without its query.
    /// - Returns: true for `/a` and both `/a` and `/a/b`, false for `/ab`.
    package static func hasPrefix(_ prefix: Span<UInt8>, _ path: Span<UInt8>) -> Bool {
        var length = prefix.count
        if length > 0, prefix[length &- 1] == Byte.slash { length &-= 1 }
        guard path.count >= length else { return false }
        for index in 0..<length where prefix[index] != path[index] {
            return false
        }
        return path.count == length || path[length] == Byte.slash
    }

    private static func isNormal(_ path: Span<UInt8>) -> Bool {
        var isSegmentStart = false
        for index in path.indices {
            switch path[index] {
            case Byte.percent, Byte.semicolon, Byte.backslash: return false
            case Byte.slash:
                if isSegmentStart { return false }
                isSegmentStart = true
            case Byte.dot where isSegmentStart:
                if isDotSegment(path, from: index) { return false }
                isSegmentStart = false
            default: isSegmentStart = false
            }
        }
        return !path.isEmpty
    }

    /// Whether the segment that begins at `start` with a dot is `.` or `..`.
    private static func isDotSegment(_ path: Span<UInt8>, from start: Int) -> Bool {
        var end = start &+ 1
        if end < path.count, path[end] == Byte.dot { end &+= 1 }
        return end == path.count || path[end] == Byte.slash
    }

    /// The byte at `cursor`, which is moved behind it; decoded if `%` and two digits stand for one to resolve.
    private static func decode(_ path: Span<UInt8>, _ cursor: inout Int) -> UInt8 {
        let byte = path[cursor]
        cursor += 1
        guard byte == Byte.percent, cursor + 1 < path.count, let high = path[cursor].hexadecimalValue,
            let low = path[cursor + 1].hexadecimalValue
        else { return byte }
        let decoded = high << 4 | low
        guard decoded.isUnreserved || decoded == Byte.slash || decoded == Byte.backslash else { return byte }
        cursor += 2
        return decoded
    }

    /// Takes a whole segment into the output.
    ///
    /// - Returns: whether a slash belongs behind it if the path ends there.
    private static func close(_ segment: inout [UInt8], into output: inout [UInt8]) -> Bool {
        if let parameters = segment.firstIndex(of: Byte.semicolon) {
            segment.removeSubrange(parameters...)
        }
        defer { segment.removeAll(keepingCapacity: true) }
        switch segment {
        case [], [Byte.dot]: return true
        case [Byte.dot, Byte.dot]:
            output.removeSubrange((output.lastIndex(of: Byte.slash) ?? 0)...)
            return true
        default:
            output.append(Byte.slash)
            output += segment
            return false
        }
    }
}

extension UInt8 {
    /// Characters that mean the same with and without percent-encoding (RFC 3986 §2.3).
    fileprivate var isUnreserved: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }
}
