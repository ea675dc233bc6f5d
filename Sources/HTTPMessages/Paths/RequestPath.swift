// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// The path of a request target as upstreams may understand it, for choosing a route.
package enum RequestPath {
    /// The ways in which upstreams may understand a path.
    package enum Understanding: Equatable, Sendable {
        /// All understand it as it is.
        case asSent
        /// Each upstream resolves it to one of these normal forms.
        case oneOf([[UInt8]])
        /// It cannot be told: there is a dot segment, and something that ends a segment or the path for some
        /// upstreams only, so that they go up from different places.
        case anything

        /// Returns true if every upstream understands `path`, to which this belongs, as it is written.
        package func isAlways(_ path: [UInt8]) -> Bool {
            switch self {
            case .asSent: true
            case .oneOf(let forms): forms.allSatisfy { $0 == path }
            case .anything: false
            }
        }
    }

    /// Finds out how upstreams may understand a path.
    ///
    /// - Parameters:
    ///   - path: of an origin-form target, without its query.
    ///   - length: the number of bytes of normal forms that are needed; the rest may be cut off.
    /// - Returns: ``Understanding/asSent`` after one look at each byte, without allocating.
    package static func understanding(of path: Span<UInt8>, upTo length: Int = .max) -> Understanding {
        guard !isNormal(path) else { return .asSent }
        let traits = PathTraits(of: path)
        guard !traits.hasDotSegment || !traits.hasDoubtfulEnd else { return .anything }
        let forms = traits.doubts.subsets.map { reading in
            resolve(path, asOnesThatRead: reading, upTo: length, canClimb: traits.hasDotSegment)
        }
        return .oneOf(forms)
    }

    /// The path with everything resolved that servers read in different ways: dot segments, empty segments, `\`,
    /// `;parameters`, and percent-encoded unreserved characters, slashes and backslashes.
    ///
    /// - Returns: nil if the path is normal, which costs one look at each byte and no allocation.
    package static func normalized(_ path: Span<UInt8>) -> [UInt8]? {
        isNormal(path) ? nil : resolve(path, asOnesThatRead: .usual, upTo: .max)
    }

    /// Returns true if `prefix` is a prefix of `path` in whole segments: `/a` of `/a` and `/a/b`, not of `/ab`.
    ///
    ///   - Parameter prefix: begins with a slash; a final one does not matter.
    package static func hasPrefix(_ prefix: Span<UInt8>, _ path: Span<UInt8>) -> Bool {
        var length = prefix.count
        if length > 0, prefix[length &- 1] == Byte.slash { length &-= 1 }
        guard path.count >= length else { return false }
        for index in 0..<length where prefix[index] != path[index] {
            return false
        }
        return path.count == length || path[length] == Byte.slash
    }

    /// Returns true if the dot segments of a path lead above its beginning, even for a moment.
    ///
    /// - Parameter path: one that is not ``Understanding/anything``, or the end of one.
    package static func climbs(_ path: Span<UInt8>) -> Bool {
        var depth = 0
        var cursor = 0
        while cursor < path.count {
            let end = path.firstIndex(of: Byte.slash, in: cursor..<path.count) ?? path.count
            switch PathTraits.dots(of: path, in: cursor..<end) {
            case nil: if end > cursor { depth += 1 }
            case 2?: depth -= 1
            default: break
            }
            guard depth >= 0 else { return true }
            cursor = end + 1
        }
        return false
    }

    /// Returns true if URL parsers take the beginning of a path for a host: two slashes, one of which may be a
    /// backslash.
    package static func namesHost(_ path: Span<UInt8>) -> Bool {
        path.count > 1 && path[0] == Byte.slash && (path[1] == Byte.slash || path[1] == Byte.backslash)
    }

    static func isNormal(_ path: Span<UInt8>) -> Bool {
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

    /// Returns true if the segment that begins at `start` with a dot is `.` or `..`.
    private static func isDotSegment(_ path: Span<UInt8>, from start: Int) -> Bool {
        var end = start &+ 1
        if end < path.count, path[end] == Byte.dot { end &+= 1 }
        return end == path.count || path[end] == Byte.slash
    }

    // MARK: Normal forms

    /// - Parameter length: the number of bytes that are needed; the rest may be cut off.
    static func resolve(
        _ path: Span<UInt8>, asOnesThatRead reading: PathReading, upTo length: Int, canClimb: Bool = true
    ) -> [UInt8] {
        var form = NormalForm(upTo: length)
        var cursor = 0
        while cursor < path.count, canClimb || form.bytes.count < length {
            let byte = path[cursor]
            switch byte {
            case Byte.slash:
                form.endSegment()
                cursor += 1
            case Byte.backslash where reading.contains(.backslash):
                form.endSegment()
                cursor += 1
            case Byte.percent:
                let (byte, isSeparator, width) = decode(path, at: cursor, reading)
                if isSeparator { form.endSegment() } else { form.append(byte) }
                cursor += width
            default:
                form.append(byte)
                cursor += 1
            }
        }
        return form.finish()
    }

    /// The byte at `cursor`, a `%`; decoded if it begins an escape that is to be resolved.
    private static func decode(
        _ path: Span<UInt8>, at cursor: Int, _ reading: PathReading
    ) -> (byte: UInt8, isSeparator: Bool, width: Int) {
        guard let decoded = path.percentDecoded(at: cursor) else { return (Byte.percent, false, 1) }
        let isSeparator =
            decoded == Byte.slash && reading.contains(.encodedSlash)
            || decoded == Byte.backslash && reading.contains(.encodedBackslash)
        let isResolved =
            switch decoded {
            case Byte.semicolon: reading.contains(.encodedSemicolon)
            case Byte.dot: reading.contains(.encodedDot)
            default: isSeparator || decoded.isUnreserved
            }
        return isResolved ? (decoded, isSeparator, 3) : (Byte.percent, false, 1)
    }
}

extension UInt8 {
    /// True for characters that mean the same with and without percent-encoding (RFC 3986 §2.3).
    fileprivate var isUnreserved: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }
}
