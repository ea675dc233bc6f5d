// SPDX-License-Identifier: Apache-2.0

/// What one attempt to move bytes without blocking came to.
package enum WireResult {
    /// So many bytes were moved, at least one; or what was asked for is done.
    case moved(Int)
    /// Nothing can be moved until the descriptor is readable again.
    case wouldBlockOnRead
    /// Nothing can be moved until the descriptor is writable again.
    case wouldBlockOnWrite
    /// The peer has ended its direction in good order.
    case end
    /// The peer has ended without saying that it was done (TLS without close_notify): a cut.
    case truncated
    case failed(StreamError)
}

/// How bytes get in and out of one connection: a plain socket, or TLS over one.
///
/// Bridge targets only.
package protocol Wire: AnyObject {
    /// Whether a `receive` that fills less than it was given has emptied the descriptor.
    var drainsOnShortReceive: Bool { get }
    /// Moves what has arrived into `destination`, which is not empty.
    func receive(into destination: UnsafeMutableRawBufferPointer) -> WireResult
    /// Moves as much of `source` as the peer takes now.
    func send(_ source: UnsafeRawBufferPointer) -> WireResult
    /// Moves as much of the three, in order, as the peer takes now; not all of them are empty.
    func send(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ third: UnsafeRawBufferPointer
    ) -> WireResult
    /// Whether what passes is encrypted.
    var isEncrypted: Bool { get }
    /// When the peer's certificate ends, in seconds since 1970; nil without one.
    var peerCertificateEnd: Int64? { get }
    /// Agrees on keys with the peer; ``WireResult/moved(_:)`` once that is done.
    func handshake() -> WireResult
    /// Whether ``endSending()`` does anything.
    var canEndSending: Bool { get }
    /// Tells the peer that nothing more will be sent; ``WireResult/moved(_:)`` once it is told.
    func endSending() -> WireResult
    /// Says that nothing but the end comes after what is sent next: both may go out as one segment (send(2),
    /// `MSG_MORE`).
    func endFollows()
    /// Whether a peer that has not been told by ``endSending()`` takes the end of the connection for a cut, or misses
    /// what was sent last.
    var announcesEnd: Bool { get }
    /// Whether an end that the peer announced (TLS close_notify) is next of what has arrived; nothing is received.
    ///
    /// - Parameter hasArrived: whether the descriptor is readable, and not by its own end.
    func hasFoundEnd(hasArrived: Bool) -> Bool
    /// Makes ``close()`` look like a failure to the peer.
    func resetOnClose()
    /// Frees the connection; nothing is called after it.
    func close()
}

extension Wire {
    package var isEncrypted: Bool { false }

    package var peerCertificateEnd: Int64? { nil }

    package func handshake() -> WireResult { .moved(0) }

    package var canEndSending: Bool { true }

    package var announcesEnd: Bool { false }

    package func endFollows() {}

    package func hasFoundEnd(hasArrived: Bool) -> Bool { false }

    package func resetOnClose() {}

    package func send(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ third: UnsafeRawBufferPointer
    ) -> WireResult {
        if !first.isEmpty { return send(first) }
        return send(second.isEmpty ? third : second)
    }

    /// Sends as much of the three as fits into one TLS record: a head and a body apart would be two system calls.
    ///
    /// What could not be sent may be sealed already; whoever tries again comes with the same bytes, and so to the same
    /// record.
    package func sendAsRecord(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ third: UnsafeRawBufferPointer
    ) -> WireResult {
        if first.isEmpty, third.isEmpty { return send(second) }
        if second.isEmpty, third.isEmpty { return send(first) }
        let total = min(first.count + second.count + third.count, 16 * 1024)  // RFC 8446 5.1
        return withUnsafeTemporaryAllocation(byteCount: total, alignment: 1) { record in
            var filled = 0
            for part in [first, second, third] {
                let count = min(part.count, total - filled)
                UnsafeMutableRawBufferPointer(rebasing: record[filled...]).copyBytes(from: part.prefix(count))
                filled += count
            }
            return send(UnsafeRawBufferPointer(record))
        }
    }
}
