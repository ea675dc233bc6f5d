// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTP1
package import BearerdHTTPExchange
package import BearerdHTTPMessages

/// The server's side of one HTTP/1.1 connection: requests in, answers out, one after the other.
///
/// Confined to its loop's thread and driven by one task. ``request`` and the memory of ``outgoing`` are reused from
/// request to request, and with ``begin(_:from:)`` from connection to connection, so that a request in the steady
/// state allocates nothing here. To whoever answers it is a ``ClientExchange``, one after another.
package final class ServerConnection {
    package private(set) var stream: ByteStream
    package private(set) var peer: PeerAddress
    /// The head received last; the handler may rewrite it in place.
    package var request = HTTPRequest()
    /// The content of ``request``.
    package let incoming: MessageBody
    /// The answer.
    package let outgoing: MessageWriter
    /// Whether the connection waits for a request and may be closed without harm.
    package private(set) var isIdle = true
    /// Whether the client can use the connection again after this answer.
    package internal(set) var persists = true
    /// Whether the end of the connection is the end of the answer (RFC 9112 §6.3).
    var closeEndsAnswer = false

    /// When the whole of a head that came in more than one piece had to be there; a head that came at once leaves it be.
    private var headDeadline: ContinuousClock.Instant?

    /// How long the client may still take for what it has begun.
    private enum Haste {
        /// As long as the time-outs say.
        case none
        /// Until it is asked again.
        case asked
        /// No longer.
        case over
    }

    /// Whether the client has begun a head and not ended it, or sends on though it has its last answer.
    package private(set) var isDawdling = false { didSet { haste = .none } }
    private var haste = Haste.none

    /// Whether ``receiveHead()`` gave up because the client is silent, and may be called again once it is not.
    package private(set) var isDormant = false

    /// How long a client may go on sending what nobody reads: many send all of a body before they read the answer.
    package static let longestLinger = Duration.seconds(30)
    /// How long such a client may be silent.
    private static let longestSilence = Duration.seconds(2)

    private var limits: HeadLimits
    private var timeouts: ServerTimeouts
    private var dormantAfter: Duration?
    private var parser: RequestParser

    /// - Parameter dormantAfter: how long ``receiveHead()`` waits between requests before it gives up, if that is less
    ///   than the time-out; nil for never.
    package init(
        stream: ByteStream, peer: PeerAddress, limits: HeadLimits, timeouts: ServerTimeouts,
        dormantAfter: Duration? = nil
    ) {
        self.dormantAfter = Self.dormancy(dormantAfter, timeouts)
        self.stream = stream
        self.peer = peer
        self.limits = limits
        self.timeouts = timeouts
        parser = RequestParser(limits: limits)
        incoming = MessageBody(stream: stream)
        outgoing = MessageWriter(stream: stream)
    }

    /// Keeps to other limits and time-outs from the next head, and the next wait, on.
    package func use(_ limits: HeadLimits, _ timeouts: ServerTimeouts, dormantAfter: Duration?) {
        self.limits = limits
        self.timeouts = timeouts
        self.dormantAfter = Self.dormancy(dormantAfter, timeouts)
        // What has begun to arrive is judged as it began.
        if !isDawdling { parser = RequestParser(limits: limits) }
    }

    private static func dormancy(_ dormantAfter: Duration?, _ timeouts: ServerTimeouts) -> Duration? {
        dormantAfter.flatMap { timeouts.idle == .zero || $0 < timeouts.idle ? $0 : nil }
    }

    /// Agrees on keys with the client, where the connection is encrypted; before the first request.
    ///
    /// - Returns: `false` when there was no agreement; the connection is then of no more use.
    /// - Throws: ``MessageError/unencrypted``, after which the connection is of no more use than to send one answer.
    package func secure() async throws(MessageError) -> Bool {
        guard stream.isEncrypted else { return true }
        do {
            try await stream.handshake(within: timeouts.header)
            return true
        } catch .unencrypted {
            request.removeAll()
            throw .unencrypted
        } catch {
            return false
        }
    }

    /// Takes the next client's connection in place of one that has ended or is dormant.
    package func begin(_ stream: ByteStream, from peer: PeerAddress) {
        self.stream = stream
        incoming.use(stream)
        outgoing.use(stream)
        self.peer = peer
        parser = RequestParser(limits: limits)
        isIdle = true
        isDormant = false
        isDawdling = false
        persists = true
    }

    /// Receives the next request head into ``request``; its body is not begun yet.
    ///
    /// - Returns: `false` when the client has gone, or stayed idle for too long, between requests.
    /// - Throws: ``MessageError/headTimedOut`` and ``MessageError/malformed(_:)``, after which the connection is of
    ///   no more use than to send one answer.
    package func receiveHead() async throws(MessageError) -> Bool {
        let stream = stream
        if stream.input.isEmpty {
            guard try await waitForRequest() else { return false }
        }
        isIdle = false
        if stream.turnIsOver { await stream.yield() }
        if try parseHead() { return true }
        comeBeforeEnd()
        return try await receiveRestOfHead()
    }

    /// Has an end that was asked for while the connection was idle wait for the request that came first.
    package func comeBeforeEnd() { stream.readiness.forgetInterruption() }

    /// When the whole of the request whose head has just been received must be there, counted from its first byte.
    ///
    /// - Returns: nil where no time-out is set.
    func takeDeadline() -> ContinuousClock.Instant? {
        defer { headDeadline = nil }
        return timeouts.header > .zero ? headDeadline ?? .now + timeouts.header : nil
    }

    /// Tells the client that the connection ends here, in good order, and closes it.
    package func finish() async { await stream.finish(within: .seconds(1)) }

    /// Says that the answer is complete, so that the connection waits for the next request.
    package func answered() { isIdle = true }

    /// Ends the wait for a client that is slow with a head, or sends on though it has its last answer; not at the first
    /// call since it began to, because the rest may be on its way.
    package func hurry() {
        guard isDawdling else { return }
        switch haste {
        case .none: haste = .asked
        case .asked:
            haste = .over
            stream.readiness.interruptReader()
        case .over: break
        }
    }

    /// Tells the client that everything is said, and lets what it still sends run into the void for a moment.
    ///
    /// Closing with unread bytes resets the connection, and the client would lose the answer (RFC 9112 9.6). Meanwhile
    /// the connection holds no memory to speak of: neither the request at hand nor a buffer.
    ///
    /// - Parameter limit: of that moment.
    package func lingerAndClose(within limit: Duration = longestLinger) async {
        let deadline = ContinuousClock.now + limit
        isDawdling = true
        defer { isDawdling = false }
        forgetMessage()
        await stream.endSending(within: min(.seconds(1), limit))
        while haste != .over {
            let rest = min(ContinuousClock.now.duration(to: deadline), Self.longestSilence)
            guard rest > .zero, (try? await stream.fill(within: rest)) == true else { break }
            stream.input.consume(stream.input.count)
            stream.releaseStorage()
        }
        stream.close()
    }

    /// Lets go of what the request and its answer took; the next one makes its own.
    private func forgetMessage() {
        stream.input.consume(stream.input.count)
        stream.releaseStorage()
        request = HTTPRequest()
        outgoing.forget()
        parser = RequestParser(limits: limits)
    }

    /// How the content of ``request`` ends (RFC 9112 §6.3), every doubt refused.
    ///
    /// Kept apart from the parser, which another may replace once the head is whole.
    package private(set) var framing = Result<BodyFraming, HTTPParseError>.success(.none)

    /// Whether nothing that has arrived waits to be read.
    package var hasReadAll: Bool { stream.input.isEmpty }

    /// Sends a peer whose connection is not served at all one answer, and closes.
    package static func dismiss(_ stream: ByteStream, with head: HTTPResponse, _ body: [UInt8]) async {
        var closing = head
        closing.fields[.connection] = "close"
        var message: [UInt8] = []
        closing.serialize(into: &message)
        try? await stream.write(message + body, within: .seconds(1))
        await stream.endSending(within: .seconds(1))
        _ = try? await stream.fill(within: .seconds(1))
        stream.close()
    }

    @inline(__always)
    private func waitForRequest() async throws(MessageError) -> Bool {
        stream.releaseStorage()
        isIdle = true
        do {
            return try await stream.fill(within: dormantAfter ?? timeouts.idle)
        } catch {
            isDormant = dormantAfter != nil && error == .timedOut
            return false
        }
    }

    private func parseHead() throws(MessageError) -> Bool {
        let consumed: Int?
        do {
            consumed = try stream.input.withReadable { (bytes) throws(HTTPParseError) in
                try parser.parse(bytes, into: &request)
            }
        } catch {
            persists = false
            nameMethod()
            throw MessageError(error)
        }
        guard let consumed else { return false }
        stream.take(consumed, for: Turn.requestCost)
        persists = parser.isPersistent
        framing = parser.framing
        return true
    }

    private func headTimedOut() -> MessageError {
        comeBeforeEnd()
        nameMethod()
        return .headTimedOut
    }

    /// Makes ``request`` tell the method of a head that cannot be received, if there is one.
    private func nameMethod() {
        stream.input.withReadable { parser.nameMethod(of: $0, in: &request) }
    }

    /// The slow path: the head came in more than one piece.
    private func receiveRestOfHead() async throws(MessageError) -> Bool {
        let deadline: ContinuousClock.Instant? = timeouts.header > .zero ? .now + timeouts.header : nil
        headDeadline = deadline
        isDawdling = true
        defer { isDawdling = false }
        repeat {
            let remaining = deadline.map { max(ContinuousClock.now.duration(to: $0), .milliseconds(1)) }
            if let deadline, ContinuousClock.now >= deadline { throw headTimedOut() }
            guard haste != .over else { throw headTimedOut() }
            do {
                guard try await stream.fill(within: remaining ?? .zero, isInside: true) else { return false }
            } catch .timedOut {
                throw headTimedOut()
            } catch .closed where haste == .over && stream.isOpen {
                throw headTimedOut()
            } catch {
                throw .stream(error)
            }
        } while try !parseHead()
        parser = RequestParser(limits: limits)  // they may be others since this head began
        return true
    }
}
