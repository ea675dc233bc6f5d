// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop

/// One request and its answer as one side of the proxy sees them: a message in, a message out, and a peer that may go.
///
/// A connection carries one of them at a time (HTTP/1.1) or many (HTTP/2). Confined to its loop's thread.
package protocol MessageExchange: AnyObject {
    associatedtype Incoming: BodySource
    associatedtype Outgoing: BodySink

    /// The content of the message that comes in.
    var incoming: Incoming { get }
    /// The message that goes out.
    var outgoing: Outgoing { get }

    /// Whether nobody has closed it on our side.
    var isOpen: Bool { get }

    /// Ends both directions at once; whoever waits for either is woken.
    func close()

    /// Ends both directions so that the peer sees a failure and no end in good order.
    func abort()

    /// Ends the wait for what comes in that is under way, or else the next one, with ``StreamError/closed``.
    func stopReceiving()

    /// Takes back a ``stopReceiving()`` that has met no wait.
    func resumeReceiving()

    /// From here on both directions carry bytes that are no message (RFC 9110 §7.8).
    func beginTunnel()

    /// Tells the peer that nothing more will be sent while it may go on sending.
    ///
    /// - Parameter timeout: of each wait for the peer to take that in; zero waits for ever.
    /// - Returns: false if there is no way to say so without ending both directions.
    func endSending(within timeout: Duration) async -> Bool

    /// Ends both directions so that the peer knows that it has got everything.
    ///
    /// - Parameter timeout: of each wait for the peer to take that in; zero waits for ever.
    func finish(within timeout: Duration) async
}
