// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// Decodes chunked transfer coding (RFC 9112 §7.1); valid chunk extensions are dropped.
struct ChunkedDecoder: Sendable {
    /// The part of the coding to which the next byte belongs.
    private enum State: Sendable {
        /// The first digit of a size.
        case sizeStart
        /// Further digits; the first value is the number so far.
        case size(Int64, digits: Int)
        /// Inside extensions, which have their own grammar.
        case extensions(Int64, ChunkExtensions)
        /// The LF of the size line.
        case sizeLineFeed(Int64)
        case data(remaining: Int64)
        case dataCarriageReturn
        case dataLineFeed
        case trailers
        case finished
        /// A size line announced too much; every further call fails in the same way.
        case tooLarge
    }

    /// The number of hexadecimal digits of 63 bits; leading zeros count.
    private static var mostDigits: Int { 16 }
    /// The most digits that are read together.
    private static var usualDigits: Int { 8 }
    /// The most bytes of extensions in a whole message.
    private static var mostExtensionBytes: Int { 16_384 }

    private var state = State.sizeStart
    private var extensionBytes = 0
    /// The bytes that further chunks may announce.
    private var allowance: UInt64
    private var trailerSection: TrailerSection

    init(limit: UInt64, trailerLimit: Int) {
        allowance = limit
        trailerSection = TrailerSection(limit: trailerLimit)
    }

    var trailers: HTTPFields { trailerSection.fields }

    mutating func next(_ bytes: Span<UInt8>) throws(HTTPParseError) -> BodyPiece {
        var cursor = 0
        while cursor < bytes.count {
            switch state {
            case .data(let remaining):
                return take(remaining, of: bytes, from: cursor)
            case .trailers:
                guard let end = try trailerSection.read(bytes, from: cursor) else {
                    return .needMore(consumed: bytes.count)
                }
                state = .finished
                return .end(consumed: end)
            case .finished: return .end(consumed: cursor)
            case .tooLarge: throw .bodyTooLarge
            case .sizeStart, .size, .extensions, .sizeLineFeed, .dataCarriageReturn, .dataLineFeed:
                if let next = try leap(bytes, from: cursor) {
                    cursor = next
                } else {
                    try step(bytes[cursor])
                    cursor &+= 1
                }
            }
        }
        if case .finished = state { return .end(consumed: cursor) }
        return .needMore(consumed: cursor)
    }

    /// Takes the data of a chunk, and its end if that is there: to come back for the end alone costs an event of a stream
    /// 200 instructions.
    private mutating func take(_ remaining: Int64, of bytes: Span<UInt8>, from start: Int) -> BodyPiece {
        let end = start &+ Int(min(remaining, Int64(bytes.count &- start)))
        let rest = remaining - Int64(end &- start)
        state = rest > 0 ? .data(remaining: rest) : .dataCarriageReturn
        guard rest == 0, bytes.hasLineEnd(at: end) else { return .data(start..<end, consumed: end) }
        state = .sizeStart
        return .data(start..<end, consumed: end &+ 2)
    }

    /// Takes the end of a chunk, or a size line without extensions, if all of it is there; whatever else there is, is left
    /// to ``step(_:)``.
    ///
    /// - Returns: the offset behind it; nil if nothing was taken.
    @inline(__always)
    private mutating func leap(_ bytes: Span<UInt8>, from start: Int) throws(HTTPParseError) -> Int? {
        var cursor = start
        switch state {
        case .dataCarriageReturn:
            guard bytes.hasLineEnd(at: cursor) else { return nil }
            state = .sizeStart
        case .sizeStart:
            var size: Int64 = 0
            let longest = min(start &+ Self.usualDigits, bytes.count)
            while cursor < longest, let digit = bytes[cursor].hexadecimalValue {
                size = size << 4 | Int64(digit)
                cursor &+= 1
            }
            guard cursor > start, bytes.hasLineEnd(at: cursor) else { return nil }
            try begin(size)
        case .size, .extensions, .sizeLineFeed, .data, .dataLineFeed, .trailers, .finished, .tooLarge:
            return nil
        }
        return cursor &+ 2
    }

    /// Takes one byte of the coding itself.
    private mutating func step(_ byte: UInt8) throws(HTTPParseError) {
        switch state {
        case .sizeStart:
            guard let digit = byte.hexadecimalValue else { throw .malformedChunkSize }
            state = .size(Int64(digit), digits: 1)
        case .size(let size, let digits):
            guard let digit = byte.hexadecimalValue else {
                try endSize(size, with: byte)
                return
            }
            guard digits < Self.mostDigits, size >> 59 == 0 else { throw .malformedChunkSize }
            state = .size(size << 4 | Int64(digit), digits: digits + 1)
        case .extensions(let size, var extensions):
            extensionBytes += 1
            guard extensionBytes <= Self.mostExtensionBytes else { throw .chunkExtensionsTooLong }
            state = try extensions.take(byte) ? .sizeLineFeed(size) : .extensions(size, extensions)
        case .sizeLineFeed(let size):
            guard byte == Byte.lineFeed else { throw .bareCarriageReturn }
            try begin(size)
        case .dataCarriageReturn:
            guard byte == Byte.carriageReturn else { throw .malformedChunkEnd }
            state = .dataLineFeed
        case .dataLineFeed:
            guard byte == Byte.lineFeed else { throw .malformedChunkEnd }
            state = .sizeStart
        case .data, .trailers, .finished, .tooLarge: break
        }
    }

    /// Begins a chunk of that size, or the trailers.
    private mutating func begin(_ size: Int64) throws(HTTPParseError) {
        guard UInt64(size) <= allowance else {
            state = .tooLarge
            throw .bodyTooLarge
        }
        allowance -= UInt64(size)
        state = size == 0 ? .trailers : .data(remaining: size)
    }

    private mutating func endSize(_ size: Int64, with byte: UInt8) throws(HTTPParseError) {
        switch byte {
        case Byte.carriageReturn: state = .sizeLineFeed(size)
        case Byte.lineFeed: throw .bareLineFeed
        case Byte.semicolon, Byte.space, Byte.tab:
            var extensions = ChunkExtensions()
            extensionBytes += 1
            _ = try extensions.take(byte)
            state = .extensions(size, extensions)
        default: throw .malformedChunkSize
        }
    }
}

extension Span<UInt8> {
    /// True if CR LF is at `index`.
    fileprivate func hasLineEnd(at index: Int) -> Bool {
        index &+ 1 < count && self[index] == Byte.carriageReturn && self[index &+ 1] == Byte.lineFeed
    }
}
