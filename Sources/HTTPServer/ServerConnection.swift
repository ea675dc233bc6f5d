// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTP1
package import BearerdHTTPExchange
package import BearerdHTTPMessages
package import BearerdSystem

/// The server side of one HTTP/1.1 connection: requests in, responses out, one after the other.
///
/// Confined to its loop's thread and driven by one task. ``request`` and the memory of ``outgoing`` are
/// reused from request to request and, with ``begin(_:from:)``, from connection to connection, so that a
/// request in the steady state allocates nothing here. Each request is a ``ClientExchange`` to whatever
/// answers it.
package final class ServerConnection {
    package var stream: ByteStream { connected }
    package var peer: PeerAddress { client }
    /// The head received last; the forwarder may rewrite it in place.
    @_borrowed
    package var request: HTTPRequest {
        @inline(__always)
        _read { yield head.value }
        @inline(__always)
        _modify { yield &head.value }
    }
    /// Where ``request`` is; not private, because only what other modules may see is inlined there.
    package let head = Exclusive(HTTPRequest())
    /// The content of ``request``.
    package let incoming: MessageBody
    /// The response.
    package let outgoing: MessageWriter
    /// True if the connection waits for a request and may be closed without harm.
    package var isIdle: Bool { waits }
    /// True if the client can use the connection again after this response.
    package internal(set) var persists: Bool {
        get { mayPersist }
        set { mayPersist = newValue }
    }
    /// True if the end of the connection marks the end of the response (RFC 9112 §6.3).
    var closeEndsAnswer: Bool {
        get { closeIsEnd }
        set { closeIsEnd = newValue }
    }

    // Private, so that the compiler proves what it has to check at run time for what others see.
    private var connected: ByteStream
    private var client: PeerAddress
    private var waits = true
    private var mayPersist = true
    private var sleeps = false
    private var closeIsEnd = false
    private var dawdles = false { didSet { urgency = .none } }
    private var bodyFraming = Result<BodyFraming, HTTPParseError>.success(.none)

    /// The deadline of a head that came in more than one piece; nil for a head that came in one.
    private var headDeadline: PreciseInstant?

    /// How urgently a slow client must finish what it has begun.
    private enum Urgency {
        /// The time-outs alone limit it.
        case none
        /// It was asked to hurry once and may go on until the next call of ``hurry()``.
        case asked
        /// Its time is over.
        case over
    }

    /// True if the client has begun a head without ending it, or still sends after its last response.
    var isDawdling: Bool { dawdles }
    private var urgency = Urgency.none

    /// True if ``receiveHead()`` returned because the client is silent; call it again once there is data.
    package var isDormant: Bool { sleeps }
    /// Since when the client has been silent, if it was dormant before and nothing has come of it since; else nil.
    package var silentSince: ContinuousClock.Instant? { stream.bytesReceived == wokenAt ? silence : nil }
    private var silence: ContinuousClock.Instant?
    /// How many bytes had come when it was woken.
    private var wokenAt: UInt64 = 0

    /// The longest time for which a client may send data that is no longer read.
    ///
    /// Many clients send the whole body before they read the response.
    package static let longestLinger = Duration.seconds(30)
    /// The longest silence of such a client.
    private static let longestSilence = Duration.seconds(2)

    private(set) var limits: HeadLimits
    private var timeouts: ServerTimeouts
    private var dormantAfter: Duration?
    private let parsing: Exclusive<RequestParser>

    /// - Parameter dormantAfter: how long ``receiveHead()`` waits between requests before it returns, if that
    ///   is shorter than the time-out; nil means never.
    package init(
        stream: ByteStream, peer: PeerAddress, limits: HeadLimits, timeouts: ServerTimeouts,
        dormantAfter: Duration? = nil
    ) {
        self.dormantAfter = Self.dormancy(dormantAfter, timeouts)
        connected = stream
        client = peer
        self.limits = limits
        self.timeouts = timeouts
        parsing = Exclusive(RequestParser(limits: limits))
        incoming = MessageBody(stream: stream)
        outgoing = MessageWriter(stream: stream)
    }

    /// Applies other limits and time-outs from the next head and the next wait on.
    package func use(_ limits: HeadLimits, _ timeouts: ServerTimeouts, dormantAfter: Duration?) {
        self.limits = limits
        self.timeouts = timeouts
        self.dormantAfter = Self.dormancy(dormantAfter, timeouts)
        // A request that has begun to arrive is judged by the limits under which it began.
        if !dawdles { parsing.value = RequestParser(limits: limits) }
    }

    private static func dormancy(_ dormantAfter: Duration?, _ timeouts: ServerTimeouts) -> Duration? {
        dormantAfter.flatMap { timeouts.idle == .zero || $0 < timeouts.idle ? $0 : nil }
    }

    /// Performs the TLS handshake if the connection is encrypted; called before the first request.
    ///
    /// - Returns: false if the handshake failed, after which the connection is useless.
    /// - Throws: ``MessageError/unencrypted`` for plain HTTP; the connection can then still carry one
    ///   response.
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

    /// Notes that the client was dormant until now.
    package func isWoken(silentSince: ContinuousClock.Instant) {
        (silence, wokenAt) = (silentSince, stream.bytesReceived)
    }

    /// Starts over with another client's connection, in place of one that has ended or is dormant.
    package func begin(_ stream: ByteStream, from peer: PeerAddress) {
        var last = connected
        connected = stream
        incoming.use(stream)
        outgoing.use(stream)
        ByteStream.keepSpare(&last)
        client = peer
        parsing.value.begin(limits: limits)
        silence = nil
        waits = true
        sleeps = false
        dawdles = false
        headDeadline = nil
        closeEndsAnswer = false
        persists = true
    }

    /// Receives the next request head into ``request``; its body is not begun yet.
    ///
    /// - Returns: false if the client left, or stayed idle too long, between requests.
    /// - Throws: ``MessageError/headTimedOut`` and ``MessageError/malformed(_:)``, after which the connection
    ///   can only carry one response.
    package func receiveHead() async throws(MessageError) -> Bool {
        let stream = stream
        if stream.input.isEmpty {
            guard try await waitForRequest(on: stream) else { return false }
        }
        waits = false
        if stream.turnIsOver { await stream.yield() }
        if try parseHead(from: stream) { return true }
        comeBeforeEnd()
        return try await receiveRestOfHead()
    }

    /// Revokes an interruption that was meant for an idle connection, because a request came first.
    package func comeBeforeEnd() { stream.readiness.forgetInterruption() }

    /// Takes the deadline for the whole of the request whose head was just received, counted from its first
    /// byte.
    ///
    /// - Returns: nil if no time-out is set.
    func takeDeadline() -> ContinuousClock.Instant? {
        defer { headDeadline = nil }
        return timeouts.header > .zero ? headDeadline?.continuous ?? .now + timeouts.header : nil
    }

    /// Closes the connection in an orderly way.
    @inline(__always)
    package func finish() async {
        if !stream.finishAtOnce() { await stream.finish(within: .seconds(1)) }
    }

    /// Marks the response as complete; the connection now waits for the next request.
    package func answered() { waits = true }

    /// Ends the wait for a client that dawdles over a head or still sends after its last response.
    ///
    /// The first call after it began to dawdle only warns, because the rest may be on its way.
    package func hurry() {
        guard dawdles else { return }
        switch urgency {
        case .none: urgency = .asked
        case .asked:
            urgency = .over
            stream.readiness.interruptReader()
        case .over: break
        }
    }

    /// Ends the sending direction, then reads and drops what the client still sends for a moment, and closes.
    ///
    /// Closing with unread bytes would reset the connection, and the client would lose the response (RFC 9112
    /// §9.6). Meanwhile the connection holds neither the request nor a buffer.
    ///
    /// - Parameter limit: the longest time for all of this.
    package func lingerAndClose(within limit: Duration = longestLinger) async {
        let deadline = ContinuousClock.now + limit
        dawdles = true
        defer { dawdles = false }
        forgetMessage()
        await stream.endSending(within: min(.seconds(1), limit))
        while urgency != .over {
            let rest = min(ContinuousClock.now.duration(to: deadline), Self.longestSilence)
            guard rest > .zero, (try? await stream.fill(within: rest)) == true else { break }
            stream.input.consume(stream.input.count)
            stream.releaseStorage()
        }
        stream.close()
    }

    /// Reads and drops the rest of a request whose answer the client has, so that its next one can follow.
    ///
    /// - Parameter limit: the longest time for all of this.
    /// - Returns: nil once that one may come; else what is left of the time, because the client is too slow, gone, or has sent
    ///   no message.
    package func skipRest(within limit: Duration) async -> Duration? {
        let deadline = ContinuousClock.now + limit
        dawdles = true
        defer {
            dawdles = false
            parsing.value = RequestParser(limits: limits)  // they may be others since this began
        }
        incoming.consumePiece()
        while !incoming.isFinished, urgency != .over {
            let rest = min(ContinuousClock.now.duration(to: deadline), Self.longestSilence)
            guard rest > .zero, (try? await incoming.nextPiece(within: rest)) != nil else { break }
            incoming.consumePiece()
        }
        if incoming.isFinished { return nil }
        return urgency == .over ? .zero : max(ContinuousClock.now.duration(to: deadline), .zero)
    }

    /// Frees the memory of the last request and response.
    private func forgetMessage() {
        stream.input.consume(stream.input.count)
        stream.releaseStorage()
        request = HTTPRequest()
        outgoing.forget()
        parsing.value = RequestParser(limits: limits)
    }

    /// The framing of the content of ``request`` (RFC 9112 §6.3); every ambiguity is an error.
    ///
    /// It is kept apart from the parser, which may be replaced once the head is complete.
    package var framing: Result<BodyFraming, HTTPParseError> { bodyFraming }

    /// True if no received byte waits to be read.
    package var hasReadAll: Bool { stream.input.isEmpty }

    @inline(__always)
    private func waitForRequest(on stream: ByteStream) async throws(MessageError) -> Bool {
        stream.releaseStorage()
        waits = true
        do {
            return try await stream.fill(within: dormantAfter ?? timeouts.idle)
        } catch {
            sleeps = dormantAfter != nil && error == .timedOut
            return false
        }
    }

    private func parseHead(from stream: ByteStream) throws(MessageError) -> Bool {
        let consumed: Int?
        do {
            consumed = try stream.input.lendReadable { (bytes) throws(HTTPParseError) in
                try parsing.value.parse(bytes, into: &request)
            }
        } catch {
            persists = false
            nameMethod()
            throw MessageError(error)
        }
        guard let consumed else { return false }
        stream.take(consumed, for: TurnBudget.requestCost)
        // The receive buffer is free now, and can be reused for the response.
        stream.releaseStorage()
        mayPersist = parsing.value.isPersistent
        bodyFraming = parsing.value.framing
        return true
    }

    private func headTimedOut() -> MessageError {
        comeBeforeEnd()
        nameMethod()
        return .headTimedOut
    }

    /// Puts the method of an unreceivable head into ``request``, if it can be read.
    private func nameMethod() {
        stream.input.withReadable { parsing.value.nameMethod(of: $0, in: &request) }
    }

    /// Receives the rest of a head that came in more than one piece.
    private func receiveRestOfHead() async throws(MessageError) -> Bool {
        let deadline: ContinuousClock.Instant? = timeouts.header > .zero ? .now + timeouts.header : nil
        headDeadline = deadline.map { PreciseInstant($0) }
        dawdles = true
        defer { dawdles = false }
        repeat {
            let remaining = deadline.map { max(ContinuousClock.now.duration(to: $0), .milliseconds(1)) }
            if let deadline, ContinuousClock.now >= deadline { throw headTimedOut() }
            guard urgency != .over else { throw headTimedOut() }
            do {
                guard try await stream.fill(within: remaining ?? .zero, isInside: true) else { return false }
            } catch .timedOut {
                throw headTimedOut()
            } catch .closed where urgency == .over && stream.isOpen {
                throw headTimedOut()
            } catch {
                throw .stream(error)
            }
        } while try !parseHead(from: stream)
        parsing.value = RequestParser(limits: limits)  // they may be others since this head began
        return true
    }
}
