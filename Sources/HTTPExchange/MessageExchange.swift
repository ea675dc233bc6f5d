// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop

/// One side's view of a request and its response: an incoming message, an outgoing message, and a peer that
/// may leave.
///
/// A connection carries one exchange at a time (HTTP/1.1) or many (HTTP/2). An exchange is confined to its
/// loop's thread.
package protocol MessageExchange: AnyObject {
    associatedtype Incoming: BodySource
    associatedtype Outgoing: BodySink

    /// The content of the incoming message.
    var incoming: Incoming { get }
    var outgoing: Outgoing { get }

    /// True until our side closes the exchange.
    var isOpen: Bool { get }

    /// Ends both directions at once and wakes the tasks that wait for either.
    func close()

    /// Ends both directions so that the peer sees a failure instead of an orderly end.
    func abort()

    /// Makes the current wait for incoming data, or else the next one, throw ``StreamError/closed``.
    func stopReceiving()

    /// Revokes a ``stopReceiving()`` that has not yet ended a wait.
    func resumeReceiving()

    /// Switches both directions to raw bytes, after a 101 response (RFC 9110 §7.8).
    ///
    /// The response that grants an extended CONNECT (RFC 8441) is a 101 for the proxy, too.
    func beginTunnel()

    /// Tells the peer that nothing more will be sent, while it may go on sending.
    ///
    /// - Parameter timeout: limits each wait for the peer to take bytes; zero waits for ever.
    /// - Returns: false if the protocol can only end both directions together.
    func endSending(within timeout: Duration) async -> Bool

    /// Ends both directions in an orderly way, so that the peer knows that it has received everything.
    ///
    /// - Parameter timeout: limits each wait for the peer to take bytes; zero waits for ever.
    func finish(within timeout: Duration) async
}
