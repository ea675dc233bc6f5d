// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// Finds the content of a message, and its end (RFC 9112 §6, §7.1).
///
/// Content is never copied: pieces are offsets into the caller's bytes.
package struct BodyDecoder: Sendable {
    /// The part of the message that comes next.
    private enum State: Sendable {
        case data(remaining: UInt64)
        case untilClose
        case chunked
        case finished
    }

    private var state: State
    /// nil unless the message is chunked, so that other messages need not pay for it.
    private var chunks: ChunkedDecoder?

    /// Makes a decoder for one message.
    ///
    /// - Parameters:
    ///   - framing: the framing of the content.
    ///   - limit: the most content bytes; a larger chunk is refused as soon as its size is known.
    ///   - trailerLimit: the most bytes of a trailer section.
    package init(_ framing: BodyFraming, limit: UInt64 = .max, trailerLimit: Int = HeadLimits().headerBytes) {
        state = .finished
        begin(framing, limit: limit, trailerLimit: trailerLimit)
    }

    /// Starts over with the next message.
    package mutating func begin(
        _ framing: BodyFraming, limit: UInt64 = .max, trailerLimit: Int = HeadLimits().headerBytes
    ) {
        if framing == .chunked {
            chunks = ChunkedDecoder(limit: limit, trailerLimit: trailerLimit)
        } else if chunks != nil {
            chunks = nil
        }
        switch framing {
        case .none, .length(0): state = .finished
        case .length(let length): state = .data(remaining: length)
        case .chunked: state = .chunked
        case .untilClose: state = .untilClose
        }
    }

    /// True once the end of the content was found; never with ``BodyFraming/untilClose``, which the close
    /// ends.
    package var isFinished: Bool {
        if case .finished = state { true } else { false }
    }

    /// The trailer fields of a chunked message, once finished.
    ///
    /// Fields that must not be sent as trailers (RFC 9110 §6.5.1) are removed.
    package var trailers: HTTPFields { chunks?.trailers ?? HTTPFields() }

    /// Decodes the next bytes of the message.
    package mutating func next(_ bytes: Span<UInt8>) throws(HTTPParseError) -> BodyPiece {
        switch state {
        case .finished: return .end(consumed: 0)
        case .untilClose: return bytes.isEmpty ? .needMore(consumed: 0) : .data(until: bytes.count)
        case .data(let remaining):
            guard !bytes.isEmpty else { return .needMore(consumed: 0) }
            guard remaining > UInt64(bytes.count) else {
                state = .finished
                return .data(until: Int(remaining))
            }
            state = .data(remaining: remaining - UInt64(bytes.count))
            return .data(until: bytes.count)
        case .chunked:
            guard let piece = try chunks?.next(bytes) else { return .end(consumed: 0) }
            if case .end = piece { state = .finished }
            return piece
        }
    }
}

extension BodyPiece {
    /// Content without framing up to `end`.
    fileprivate static func data(until end: Int) -> BodyPiece { .data(0..<end, consumed: end) }
}
