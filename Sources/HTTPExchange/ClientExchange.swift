// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTPMessages

/// A client's request and the response to it, whatever protocol carries them.
package protocol ClientExchange: MessageExchange {
    /// The address of the client, or its user on a Unix socket.
    var peer: PeerAddress { get }
    /// True if the client's connection is encrypted.
    var isEncrypted: Bool { get }

    /// Returns true if a TLS connection with this client certificate would be accepted under `security`.
    func isAdmitted(by security: any ConnectionSecurity) -> Bool

    /// False once a certificate has ended that the client was accepted with.
    var isCertificateCurrent: Bool { get }

    /// The names in the client's certificate; none without one.
    var peerNames: PeerNames { get }

    /// The head of the request; the forwarder rewrites it in place.
    ///
    /// A request for a tunnel has `Upgrade` in it, however its protocol says that, and is granted with a 101.
    @_borrowed var request: HTTPRequest { get set }

    /// Returns true if a 101 grants the tunnel, as far as the client cannot judge that itself.
    func isGranted(by answer: HTTPResponse) -> Bool

    /// Begins the request's content.
    ///
    /// - Parameter limit: the most content bytes; more are ``MessageError/bodyTooLarge``.
    /// - Returns: the length of the content, as far as the head tells it.
    /// - Throws: ``MessageError/malformed(_:)`` where nobody can tell its end; the client can then send no more requests
    ///   on this connection.
    func beginBody(limit: UInt64) throws(MessageError) -> BodyLength

    /// True if the client may send another request on the connection after this response.
    var persists: Bool { get }

    /// Promises that nothing more of the request will be read; the response is sent nevertheless.
    ///
    /// Other bytes that the client sends on the connection must then not be taken for another request.
    func leaveRequestUnread()

    /// Ends the connection after the requests that have already begun.
    ///
    /// A response whose head is not written yet tells the client so.
    func endConnectionAfterAnswer()

    /// Sends an interim response, whose status is 1xx (RFC 9110 §15.2).
    ///
    /// - Parameter timeout: limits each wait for the client to take more; zero waits for ever.
    func send(interim head: inout HTTPResponse, within timeout: Duration) async throws(StreamError)

    /// Writes the head of the response with the fields that belong to the protocol, and keeps it in
    /// ``outgoing`` until the next send.
    ///
    /// - Parameter length: the length of the content that follows, as the client sees it.
    func begin(_ head: inout HTTPResponse, length: BodyLength)

    /// Announces that the next send is the last of the response, and of the connection if that does not
    /// persist.
    func endFollows()

    /// Breaks the response off so that the client can tell that it is incomplete.
    func cut()

    /// Breaks the response off as ``cut()`` does, with an error code of HTTP/2 where the protocol has them.
    func cut(with code: UInt32)

    // MARK: The client's presence

    /// The bytes that have passed so far; reading it may take a system call.
    var progress: ExchangeProgress { get }

    /// Looks at the state of the client's connection, even if data from it still waits to be received.
    func lookAtPeer() -> PeerState

    /// Calls `onNews` when data arrives that nobody waits for, or when the client has ended its direction;
    /// nil stops the calls.
    func watchPeer(_ onNews: (() -> Void)?)
}

extension ClientExchange {
    /// True: a client of HTTP/1.1 gets the 101, and checks the proof in it itself.
    package func isGranted(by answer: HTTPResponse) -> Bool { true }

    package func cut(with code: UInt32) { cut() }
}
