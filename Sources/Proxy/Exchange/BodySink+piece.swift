// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange

extension BodySink {
    /// Offers the piece at hand of `source`, and consumes it; as ``BodySink/offer(_:)``.
    @inline(__always)
    func offer(pieceOf source: some BodySource) throws(StreamError) -> Bool {
        defer { source.consumePiece() }
        let isTaken = try source.withPiece { (piece) throws(StreamError) in try offer(piece) }
        guard let isTaken else { throw .closed }
        return isTaken
    }
}
