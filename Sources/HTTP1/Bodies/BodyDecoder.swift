// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// Finds the content in a message's bytes, and its end (RFC 9112 §6, §7.1).
///
/// Content is never copied: pieces are offsets in the caller's bytes.
package struct BodyDecoder: Sendable {
    /// What comes next.
    private enum State: Sendable {
        case data(remaining: UInt64)
        case untilClose
        case chunked
        case finished
    }

    private var state: State
    /// For chunked messages only: the others need not pay for it.
    private var chunks: ChunkedDecoder?

    /// A decoder for one message.
    ///
    /// - Parameters:
    ///   - framing: how the content ends.
    ///   - limit: content bytes beyond which a chunk is refused as soon as its size is known.
    ///   - trailerLimit: bytes of a trailer section, beyond which it is refused.
    package init(_ framing: BodyFraming, limit: UInt64 = .max, trailerLimit: Int = 16_384) {
        state = .finished
        begin(framing, limit: limit, trailerLimit: trailerLimit)
    }

    /// Begins the next message in place.
    package mutating func begin(
        _ framing: BodyFraming, limit: UInt64 = .max, trailerLimit: Int = 16_384
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

    /// Whether the end of the content was found.
    ///
    /// With ``BodyFraming/untilClose`` it never is: the close is the end.
    package var isFinished: Bool {
        if case .finished = state { true } else { false }
    }

    /// The trailer fields of a chunked message, once finished.
    ///
    /// Those that may not be sent as trailers (RFC 9110 §6.5.1) are left out.
    package var trailers: HTTPFields { chunks?.trailers ?? HTTPFields() }

    /// Looks at the next bytes of the message.
    package mutating func next(_ bytes: Span<UInt8>) throws(HTTPParseError) -> BodyPiece {
        switch state {
        case .finished: return .end(consumed: 0)
        case .untilClose: return bytes.isEmpty ? .needMore(consumed: 0) : .data(0..<bytes.count)
        case .data(let remaining):
            guard !bytes.isEmpty else { return .needMore(consumed: 0) }
            guard remaining > UInt64(bytes.count) else {
                state = .finished
                return .data(0..<Int(remaining))
            }
            state = .data(remaining: remaining - UInt64(bytes.count))
            return .data(0..<bytes.count)
        case .chunked:
            guard let piece = try chunks?.next(bytes) else { return .end(consumed: 0) }
            if case .end = piece { state = .finished }
            return piece
        }
    }
}
