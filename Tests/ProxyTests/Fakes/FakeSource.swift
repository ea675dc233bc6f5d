// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPExchange
import BearerdHTTPMessages

/// Content that a test hands in, piece by piece, while somebody waits for it or not.
final class FakeSource: BodySource {
    private var pieces: [[UInt8]] = []
    private var hasEnd = false
    private var failure: MessageError?
    private var atHand: [UInt8]?
    private var waiter: CheckedContinuation<Void, Never>?
    /// True if the current or next wait ends at once.
    private var isStopped = false
    private(set) var byteCount: UInt64 = 0
    private(set) var consumedCount = 0
    var trailers = HTTPFields()
    /// True once the connection is closed, and unread data is lost.
    var isClosed = false

    var isFinished: Bool { hasEnd && pieces.isEmpty && failure == nil }

    /// Prepares for the next message.
    func begin(_ pieces: [String] = [], isWhole: Bool = true) {
        self.pieces = pieces.map { Array($0.utf8) }
        hasEnd = isWhole
        failure = nil
        atHand = nil
        byteCount = 0
    }

    /// More of the content arrives.
    func arrive(_ piece: String, isLast: Bool = false) {
        pieces.append(Array(piece.utf8))
        hasEnd = isLast
        wake()
    }

    /// The sender ends or breaks off.
    func end(_ failure: MessageError? = nil) {
        self.failure = failure
        hasEnd = true
        wake()
    }

    /// Ends a wait with ``StreamError/closed``.
    func stop() {
        isStopped = true
        wake()
    }

    func forgetStop() { isStopped = false }

    private func wake() {
        waiter?.resume()
        waiter = nil
    }

    func nextPiece() throws(MessageError) -> Int? {
        precondition(atHand == nil, "a piece was not consumed")
        guard !pieces.isEmpty else {
            if let failure { throw failure }
            return nil
        }
        let piece = pieces.removeFirst()
        atHand = piece
        byteCount += UInt64(piece.count)
        return piece.count
    }

    func nextPiece(within timeout: Duration, sparingly: Bool) async throws(MessageError) -> Int? {
        while true {
            if isClosed { throw .stream(.closed) }
            if let count = try nextPiece() { return count }
            if hasEnd { return nil }
            if isStopped {
                isStopped = false
                throw .stream(.closed)
            }
            await withCheckedContinuation { waiter = $0 }
        }
    }

    var pieceCount: Int? { isClosed ? nil : atHand?.count ?? 0 }

    func withPiece<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard !isClosed, let piece = atHand else { return nil }
        return try body(piece.span)
    }

    func consumePiece() {
        if atHand != nil { consumedCount += 1 }
        atHand = nil
    }

    func skipArrived() {
        consumePiece()
        while (try? nextPiece()) != nil { consumePiece() }
    }
}
