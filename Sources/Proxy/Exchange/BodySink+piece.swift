// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange

extension BodySink {
    /// Offers the current piece of `source` as ``BodySink/offer(_:)`` does, and consumes it.
    ///
    /// - Parameter look: sees it before.
    @inline(__always)
    func offer(
        pieceOf source: some BodySource, behind look: (Span<UInt8>) -> Void = { _ in }
    ) throws(StreamError) -> Bool {
        defer { source.consumePiece() }
        let isTaken = try source.withPiece { (piece) throws(StreamError) in
            look(piece)
            return try offer(piece)
        }
        guard let isTaken else { throw .closed }
        return isTaken
    }
}
