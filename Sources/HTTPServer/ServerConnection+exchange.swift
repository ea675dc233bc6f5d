// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
internal import BearerdHTTP1
package import BearerdHTTPExchange
package import BearerdHTTPMessages

extension ServerConnection: ClientExchange, ConnectionExchange {
    private static let closeLine = Array("Connection: close\r\n".utf8)
    private static let upgradeLine = Array("Connection: Upgrade\r\n".utf8)
    private static let keepAliveLine = Array("Connection: keep-alive\r\n".utf8)

    package var isEncrypted: Bool { stream.isEncrypted }

    package func isAdmitted(by security: any ConnectionSecurity) -> Bool { stream.isAdmitted(by: security) }

    package var isCertificateCurrent: Bool { stream.peerIsCurrent }

    package var peerNames: PeerNames { stream.peerNames }

    // MARK: The request

    package func beginBody(limit: UInt64) throws(MessageError) -> BodyLength {
        closeEndsAnswer = false
        let framing: BodyFraming
        do {
            framing = try self.framing.get()
        } catch {
            beginNothing()
            throw MessageError(error)
        }
        incoming.begin(framing, limit: limit, trailerLimit: limits.headerBytes)
        return BodyLength(framing)
    }

    /// Begins an empty body for a request whose end cannot be found, so that later bytes are not taken for a
    /// request.
    package func beginNothing() {
        leaveRequestUnread()
        incoming.begin(.none)
    }

    // MARK: The answer

    /// Ends the connection after the response, because the unread rest would be taken for the next request.
    package func leaveRequestUnread() { persists = false }

    package func endConnectionAfterAnswer() { persists = false }

    package func send(
        interim head: inout HTTPResponse, within timeout: Duration
    ) async throws(StreamError) {
        outgoing.append(&head, isChunked: false)
        try await outgoing.flush(within: timeout)
    }

    package func begin(_ head: inout HTTPResponse, length: BodyLength) {
        closeEndsAnswer = length == .open && request.version == .http10
        if closeEndsAnswer { persists = false }
        outgoing.begin()
        // Whoever made the head may have told the length by ending the message.
        if length == .exact(0), !head.fields.has(.contentLength) { head.fields[.contentLength] = "0" }
        outgoing.append(&head, isChunked: length == .open && !closeEndsAnswer)
        if head.fields.has(.upgrade) { outgoing.append(lineOfHead: Self.upgradeLine) }
        guard head.status != 101 else { return }
        if !persists {
            outgoing.append(lineOfHead: Self.closeLine)
        } else if request.version == .http10 {
            outgoing.append(lineOfHead: Self.keepAliveLine)
        }
    }

    package func endFollows() { stream.endFollows() }

    package func cut() {
        persists = false
        // Only a reset tells a reader of a close-delimited body that it is not whole (RFC 9112 §8).
        if closeEndsAnswer { stream.abort() } else { stream.close() }
    }

    // MARK: The connection

    package func close() { stream.close() }

    package func beginTunnel() {
        persists = false
        incoming.begin(.untilClose)
        outgoing.begin()
    }

    package var progress: ExchangeProgress {
        ExchangeProgress(
            received: stream.bytesReceived, sent: stream.bytesSent, untaken: stream.untakenCount)
    }

    package func lookAtPeer() -> PeerState { stream.lookAtPeer() }

    package func watchPeer(_ onNews: (() -> Void)?) { stream.readiness.onEdge = onNews }
}
