// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTPMessages

/// A client's request, and the answer that it gets, whatever protocol carries them.
package protocol ClientExchange: MessageExchange {
    /// Who the client is.
    var peer: PeerAddress { get }
    /// Whether what it sends is encrypted.
    var isEncrypted: Bool { get }

    /// Whether its connection would be taken if it were made now.
    func isAdmitted(by security: any ConnectionSecurity) -> Bool

    /// The head of the request; whoever forwards it may rewrite it in place.
    var request: HTTPRequest { get set }

    /// Begins the request's content.
    ///
    /// - Parameter limit: more content bytes than this are ``MessageError/bodyTooLarge``.
    /// - Returns: how much there is.
    /// - Throws: ``MessageError/malformed(_:)`` where nobody can tell its end; the client can then send no more requests
    ///   on this connection.
    func beginBody(limit: UInt64) throws(MessageError) -> BodyLength

    /// Whether the client may send another request after this answer.
    var persists: Bool { get }

    /// Says that nothing more of the request will be read; the answer is sent nevertheless.
    ///
    /// Whatever else the client sends on the connection must not be taken for another request.
    func leaveRequestUnread()

    /// Says that the connection takes no other request than those that have begun; the answer tells it, unless it has
    /// begun.
    func endConnectionAfterAnswer()

    /// Sends a head that only precedes the answer (RFC 9110 §15.2).
    ///
    /// - Parameter timeout: of each wait for the client to take more; zero waits for ever.
    func send(interim head: inout HTTPResponse, within timeout: Duration) async throws(StreamError)

    /// Writes the head of the answer, with what the protocol itself has to say in it; ``outgoing`` keeps it until its
    /// next send.
    ///
    /// - Parameter length: of the content that follows, as the client can see it.
    func begin(_ head: inout HTTPResponse, length: BodyLength)

    /// Says that what is sent next is the last of the answer, and of the connection where that does not persist.
    func endFollows()

    /// Ends the connection so that the client sees that the answer is not whole.
    func cut()

    // MARK: Whether it is still there

    /// How much has passed so far; perhaps a system call.
    var progress: ExchangeProgress { get }

    /// How the client stands to the exchange, whatever of it still waits to be received.
    func lookAtPeer() -> PeerState

    /// Has `onNews` run when something arrives that nobody waits for, or the client has ended its direction; nil stops
    /// that.
    func watchPeer(_ onNews: (() -> Void)?)
}
