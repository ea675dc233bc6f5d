// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPExchange
import BearerdHTTPMessages

/// A message on its way out, as far as its peer has taken it.
final class FakeSink: BodySink {
    /// How many bytes of content the peer takes before it takes no more until ``takeMore()``; nil for all.
    var room: Int?
    /// What all exchanges of its connection may send together; nil where each has a connection of its own.
    var window: FakeWindow?
    /// The failure of the next send.
    var failure: StreamError?
    var framesEnd = false
    var takesMuch: Bool { true }
    private(set) var taken: [UInt8] = []
    private(set) var kept: [UInt8] = []
    private(set) var trailers: HTTPFields?
    private(set) var hasEnd = false
    private(set) var hasSent = false
    private var waiter: CheckedContinuation<Void, Never>?

    var text: String { String(decoding: taken, as: UTF8.self) }

    /// Prepares for the next message.
    func begin(framesEnd: Bool) {
        self.framesEnd = framesEnd
        taken = []
        kept = []
        trailers = nil
        hasEnd = false
        hasSent = false
    }

    /// The peer takes whatever comes from here on.
    func takeMore() {
        room = nil
        goOn()
    }

    private func goOn() {
        waiter?.resume()
        waiter = nil
    }

    private func take() throws(StreamError) -> Bool {
        if let failure { throw failure }
        let count = min(room ?? .max, window?.room ?? .max, kept.count)
        taken += kept.prefix(count)
        kept.removeFirst(count)
        room = room.map { $0 - count }
        window?.room -= count
        if count > 0 { hasSent = true }
        return kept.isEmpty
    }

    func offer(_ piece: Span<UInt8>) throws(StreamError) -> Bool {
        append(copy: piece)
        return try take()
    }

    func send(pieceOf source: some BodySource, within timeout: Duration) async throws(StreamError) {
        defer { source.consumePiece() }
        guard source.withPiece({ append(copy: $0) }) != nil else { throw .closed }
        try await flush(within: timeout)
    }

    private func append(copy piece: Span<UInt8>) { for index in piece.indices { kept.append(piece[index]) } }

    func append(_ content: [UInt8]) { kept += content }

    func end(trailers: @autoclosure () -> HTTPFields) {
        guard !hasEnd else { return }
        hasEnd = true
        if framesEnd { self.trailers = trailers() }
    }

    func flush() throws(StreamError) -> Bool {
        hasSent = true
        return try take()
    }

    func flush(within timeout: Duration) async throws(StreamError) {
        hasSent = true
        while try !take() {
            await withCheckedContinuation { continuation in
                waiter = continuation
                window?.wait { [weak self] in self?.goOn() }
            }
        }
    }
}
