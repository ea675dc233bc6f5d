// SPDX-License-Identifier: Apache-2.0

/// The result of an attempt to move bytes without blocking.
package enum WireResult {
    /// This many bytes were moved, at least one; or the request was carried out.
    case moved(Int)
    /// Nothing can be moved until the descriptor is readable again.
    case wouldBlockOnRead
    /// Nothing can be moved until the descriptor is writable again.
    case wouldBlockOnWrite
    /// The peer has ended its direction in an orderly way.
    case end
    /// The peer has ended without announcing it (TLS without close_notify), so that data may be missing.
    case truncated
    case failed(StreamError)
}

/// The way in which bytes enter and leave one connection: a plain socket, or TLS over one.
///
/// Only bridge targets use it.
package protocol Wire: AnyObject {
    /// True if the last `receive`, if it filled less than its buffer, has emptied the descriptor.
    var drainsOnShortReceive: Bool { get }
    /// The cost of the last `receive` beside the bytes that it moved, in the units of ``TurnBudget``; asked for where
    /// ``isEncrypted`` is true.
    var workBeside: Int { get }
    /// Moves data that has arrived into `destination`, which is not empty.
    func receive(into destination: UnsafeMutableRawBufferPointer) -> WireResult
    /// Moves as much of `source` as the peer takes now.
    func send(_ source: UnsafeRawBufferPointer) -> WireResult
    /// Moves as much of the three, in order, as the peer takes now; not all of them are empty.
    func send(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ third: UnsafeRawBufferPointer
    ) -> WireResult
    /// True if the connection is encrypted.
    var isEncrypted: Bool { get }
    /// The end of validity of the peer's certificate in seconds since 1970; nil without one.
    var peerCertificateEnd: Int64? { get }
    /// False once a certificate has ended that the peer, a client, was accepted with.
    var peerIsCurrent: Bool { get }
    /// The protocol that both sides have agreed on in the handshake (ALPN, RFC 7301); nil where they have not.
    var applicationProtocol: ApplicationProtocol? { get }
    /// The names in the peer's certificate, by which listeners tell clients apart.
    var peerNames: PeerNames { get }
    /// Performs the TLS handshake; ``WireResult/moved(_:)`` once it is complete.
    func handshake() -> WireResult
    /// True if ``endSending()`` can end the sending direction alone.
    var canEndSending: Bool { get }
    /// Ends the sending direction; ``WireResult/moved(_:)`` once the peer is told.
    func endSending() -> WireResult
    /// Announces that nothing but the end follows the next send, so that both can go out in one segment
    /// (send(2), `MSG_MORE`).
    func endFollows()
    /// True if closing without ``endSending()`` would look like a cut to the peer, or lose the last data.
    var announcesEnd: Bool { get }
    /// Returns true if the announced end (TLS close_notify) comes next in the data that has arrived; receives
    /// nothing.
    ///
    /// - Parameter hasArrived: true if the descriptor has bytes to receive, and not only its own end.
    func hasFoundEnd(hasArrived: Bool) -> Bool
    /// Makes ``close()`` look like a failure to the peer.
    func resetOnClose()
    /// Frees the connection; no other call may follow.
    func close()
}

extension Wire {
    package var workBeside: Int { 0 }

    package var isEncrypted: Bool { false }

    package var peerCertificateEnd: Int64? { nil }

    package var peerIsCurrent: Bool { true }

    package var applicationProtocol: ApplicationProtocol? { nil }

    package var peerNames: PeerNames { .none }

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

    /// Sends as much of the three as fits into one TLS record, because a head and a body apart would be two
    /// system calls.
    ///
    /// Bytes that could not be sent may already be encrypted; the caller tries again with the same bytes,
    /// which make the same record.
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
