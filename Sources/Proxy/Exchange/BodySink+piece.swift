// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange

extension BodySink {
    /// Offers the current piece of `source` as ``BodySink/offer(_:)`` does, and consumes it.
    @inline(__always)
    func offer(pieceOf source: some BodySource) throws(StreamError) -> Bool {
        defer { source.consumePiece() }
        let isTaken = try source.withPiece { (piece) throws(StreamError) in try offer(piece) }
        guard let isTaken else { throw .closed }
        return isTaken
    }
}
