// SPDX-License-Identifier: Apache-2.0

/// The path of a request target as an upstream may understand it, for choosing a route.
package enum RequestPath {
    /// What upstreams may make of a path.
    package enum Understanding: Equatable, Sendable {
        /// All of them what it says: there is nothing to resolve.
        case asSent
        /// One of these normal forms, as far as they resolve it.
        case oneOf([[UInt8]])
        /// Anything: it has a dot segment, and something that only some of them take for the end of a segment or of the
        /// path, so that they go up from different places.
        case anything

        /// Whether every upstream understands a path, of which this is the understanding, as it is written.
        package func isAlways(_ path: [UInt8]) -> Bool {
            switch self {
            case .asSent: true
            case .oneOf(let forms): forms.allSatisfy { $0 == path }
            case .anything: false
            }
        }
    }

    /// Finds out what upstreams may make of a path.
    ///
    /// - Parameters:
    ///   - path: of an origin-form target, without its query.
    ///   - length: what normal forms have beyond it may be cut off: a long path is not written out for nothing.
    /// - Returns: ``Understanding/asSent`` after one look at each byte, without memory.
    package static func understanding(of path: Span<UInt8>, upTo length: Int = .max) -> Understanding {
        guard !isNormal(path) else { return .asSent }
        let traits = PathTraits(of: path)
        guard !traits.hasDotSegment || !traits.hasDoubtfulEnd else { return .anything }
        let forms = traits.doubts.subsets.map { reading in
            resolve(path, asOnesThatRead: reading, upTo: length, canClimb: traits.hasDotSegment)
        }
        return .oneOf(forms)
    }

    /// The path with everything resolved that servers read differently: dot segments, empty segments, `\`,
    /// segments' `;parameters`, and percent-encoded unreserved characters, slashes and backslashes.
    ///
    /// - Parameter path: of an origin-form target, without its query.
    /// - Returns: nil if the path is normal as it is, which costs one look at each byte and no memory.
    package static func normalized(_ path: Span<UInt8>) -> [UInt8]? {
        isNormal(path) ? nil : resolve(path, asOnesThatRead: .usual, upTo: .max)
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

    /// Whether the dot segments of a path lead above where it begins, be it only for a moment.
    ///
    /// - Parameter path: one that upstreams do not understand as ``Understanding/anything``, or the end of one.
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

    /// Whether URL parsers take the beginning of a path for a host: two slashes, of which one may be a backslash.
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

    /// Whether the segment that begins at `start` with a dot is `.` or `..`.
    private static func isDotSegment(_ path: Span<UInt8>, from start: Int) -> Bool {
        var end = start &+ 1
        if end < path.count, path[end] == Byte.dot { end &+= 1 }
        return end == path.count || path[end] == Byte.slash
    }

    // MARK: Normal forms

    /// - Parameter length: what the form has beyond it may be cut off.
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

    /// The byte at `cursor`, a `%`; decoded if it and two digits stand for one to resolve.
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
    /// Characters that mean the same with and without percent-encoding (RFC 3986 §2.3).
    fileprivate var isUnreserved: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }
}
