// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// The path of a request target as upstreams may understand it, for choosing a route.
package enum RequestPath {
    /// The ways in which upstreams may understand a path.
    package enum Understanding: Equatable, Sendable {
        /// All understand it as it is.
        case asSent
        /// Each upstream resolves it to one of these normal forms, all in their canonical spelling.
        case oneOf([[UInt8]])
        /// It cannot be told: there is a dot segment, and something that ends a segment or the path for some
        /// upstreams only, so that they go up from different places.
        case anything

        /// Returns true if every upstream understands the path to which this belongs as it is written.
        ///
        ///   - Parameter path: the path in its canonical spelling.
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
        var forms: [[UInt8]] = []
        for reading in traits.doubts.subsets {
            // Encoded delimiters may be data (RFC 3986 §2.2), or what they stand for.
            let variants = [reading] + (traits.hasEncodedDelimiter ? [reading.union(.encodedDelimiter)] : [])
            for variant in variants {
                forms.append(
                    resolve(path, asOnesThatRead: variant, upTo: length, canClimb: traits.hasDotSegment))
                guard let end = traits.encodedEnd else { continue }
                forms.append(resolve(path.extracting(0..<end), asOnesThatRead: variant, upTo: length))
            }
        }
        // To servers that decode a path and resolve nothing, dot segments are names.
        if traits.hasDotSegment {
            for decodesDelimiters in traits.hasEncodedDelimiter ? [false, true] : [false] {
                let names = PercentEncoding.canonical(
                    path, decodesUnreserved: true, decodesDelimiters: decodesDelimiters)
                forms.append(Array(names.prefix(length)))
            }
        }
        return .oneOf(forms)
    }

    /// The canonical spelling of a path: the paths of which servers make the same without resolving anything have one.
    ///
    /// Bytes that no path may have as they are, such as those outside ASCII, are percent-encoded, and escapes have
    /// upper-case digits. What servers read in different ways stays as it is.
    package static func canonical(_ path: Span<UInt8>) -> [UInt8] { PercentEncoding.canonical(path) }

    /// The number of bytes of the first segments of a target, with the slash before each.
    package static func count(ofSegments segments: Int, in target: Span<UInt8>) -> Int {
        var left = segments
        for index in target.indices {
            if target[index] == Byte.questionMark { return index }
            guard target[index] == Byte.slash else { continue }
            if left == 0 { return index }
            left -= 1
        }
        return target.count
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
                guard let decoded = path.percentDecoded(at: cursor) else {
                    form.appendEscape(of: Byte.percent)
                    cursor += 1
                    continue
                }
                switch meaning(of: decoded, to: reading) {
                case .separator: form.endSegment()
                case .character: form.append(decoded)
                case .escape: form.appendEscape(of: decoded)
                }
                cursor += 3
            case _ where byte.isOfPath:
                form.append(byte)
                cursor += 1
            default:
                form.appendEscape(of: byte)
                cursor += 1
            }
        }
        return form.finish()
    }

    private enum EscapeMeaning {
        case separator
        case character
        case escape
    }

    /// The meaning of an escape of a byte in a reading.
    private static func meaning(of decoded: UInt8, to reading: PathReading) -> EscapeMeaning {
        switch decoded {
        case Byte.slash: reading.contains(.encodedSlash) ? .separator : .escape
        case Byte.backslash: reading.contains(.encodedBackslash) ? .separator : .escape
        case Byte.semicolon: reading.contains(.encodedSemicolon) ? .character : .escape
        case Byte.dot: reading.contains(.encodedDot) ? .character : .escape
        case _ where decoded.isPathDelimiter: reading.contains(.encodedDelimiter) ? .character : .escape
        default: PercentEncoding.isUnreserved(decoded) ? .character : .escape
        }
    }
}
