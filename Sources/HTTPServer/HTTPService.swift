// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
internal import BearerdHTTP1
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdSystem
// Members of what it inlines from EventLoop and System are of this module: without it the optimiser cannot see them, and warns.
internal import Synchronization

/// Serves an ``HTTPResponder`` on one loop: the admin listener, the development servers, a login's redirect.
///
/// It collects bodies and allocates memory freely within ``ServiceLimits``; proxied requests do not come
/// through here.
package actor HTTPService: LoopConfined {
    package nonisolated let loop: EventLoop

    /// The longest time for which a client may send data that is no longer read.
    private static let longestLinger = Duration.seconds(2)
    /// The delay before looking again for a connection that can make room.
    private static let pause = Duration.milliseconds(20)
    /// The delay before looking again whether a client is still there, for a request that is of no use without it.
    private static let departurePause = Duration.milliseconds(100)

    private var responder: any HTTPResponder
    private let limits: ServiceLimits
    /// The protocol that is served beside HTTP/1.1; nil for none.
    private let other: (any OtherProtocol)?
    private var timeouts: ServerTimeouts { limits.timeouts }
    private var listeners: [Listener] = []
    private var clients: [ObjectIdentifier: ServiceConnection] = [:]
    /// Phases entered so far by all connections.
    private var phaseCount: UInt64 = 0
    /// Connections accepted beyond the limit.
    ///
    /// The accept queues pause until these have places, so there are hardly ever two.
    private var waiting: [(stream: ByteStream, peer: PeerAddress)] = []
    /// Requests being answered, without probes.
    private var workCount = 0
    private let peers = PeerLookup()
    private var isStopping = false
    private var date = DateField()
    private lazy var retry = LoopTimer(loop: loop) { [unowned self] in  // `self` owns the timer
        assumeIsolated { $0.letIn() }
    }

    package init(
        loop: EventLoop, responder: any HTTPResponder, limits: ServiceLimits = ServiceLimits(),
        other: (any OtherProtocol)? = nil
    ) {
        self.loop = loop
        self.responder = responder
        self.limits = limits
        self.other = other
    }

    /// Accepts connections on `socket` until ``stop()``.
    ///
    /// - Throws: ``StreamError`` when the kernel cannot watch the socket.
    package func listen(on socket: ListeningSocket) throws(StreamError) {
        listeners.append(
            // On the loop's thread, which is this actor's executor. The cycle ends in stop().
            try Listener(socket, loop: loop, onShortage: { self.makeRoom() }) { stream, peer in
                self.waiting.append((stream, peer))
                self.letIn()
            })
    }

    /// Replaces the responder for later requests.
    package func use(_ responder: any HTTPResponder) { self.responder = responder }

    /// Stops accepting and closes what is idle; answers under way are finished.
    package func stop() {
        isStopping = true
        listeners.forEach { $0.close() }
        listeners = []
        for client in clients.values where client.connection.isIdle && !client.connection.stream.hasArrivals {
            client.connection.stream.close()
        }
    }

    /// Stops, and waits at most `limit` for the answers under way.
    package func stop(waitingAtMost limit: Duration) async {
        stop()
        let deadline = ContinuousClock.now + limit
        while !clients.isEmpty || !waiting.isEmpty, .now < deadline {
            await loop.pause(for: .milliseconds(10))
        }
    }

    // MARK: Admission

    /// Serves waiting connections while there is room or room can be made.
    private func letIn() {
        while !waiting.isEmpty, clients.count < limits.connections || makeRoom() {
            let (stream, peer) = waiting.removeFirst()
            begin(stream, from: peer)
        }
        guard !waiting.isEmpty else { return listeners.forEach { $0.resume() } }
        listeners.forEach { $0.pause() }
        retry.set(after: Self.pause)
    }

    private func begin(_ stream: ByteStream, from peer: PeerAddress) {
        let connection = ServerConnection(
            stream: stream, peer: peer, limits: HeadLimits(), timeouts: timeouts)
        let client = ServiceConnection(connection, at: phaseCount)
        clients[ObjectIdentifier(client)] = client
        _ = loop.startTask { await self.serve(client) }
    }

    /// Closes the least valuable connection if one may be closed.
    ///
    /// - Returns: true if there is room now.
    @discardableResult
    private func makeRoom() -> Bool {
        let candidates = clients.values.filter { $0.phase != .answering }.sorted { $0.rank < $1.rank }
        guard let client = candidates.first(where: \.givesWay) else { return false }
        clients[ObjectIdentifier(client)] = nil
        client.connection.stream.close()
        return true
    }

    private func enter(_ phase: ServiceConnection.Phase, _ client: ServiceConnection) {
        phaseCount += 1
        client.enter(phase, at: phaseCount)
    }

    private func left(_ client: ServiceConnection) {
        client.connection.stream.close()
        clients[ObjectIdentifier(client)] = nil
        if !waiting.isEmpty { letIn() }
    }

    // MARK: A connection's life

    private func serve(_ client: ServiceConnection) async {
        defer { left(client) }
        let connection = client.connection
        do {
            while try await connection.receiveHead() {
                try await answer(client)
                guard connection.persists, !isStopping else { break }
                connection.answered()
                enter(.receiving, client)
            }
        } catch let error as MessageError {
            let stream = connection.stream
            guard error == .malformed(.unsupportedVersion), let other, other.begins(on: stream) else {
                return await refuse(error, client)
            }
            enter(.answering, client)
            await other.serve(stream, from: connection.peer, on: loop)
        } catch {
            // The client has gone, or takes nothing: there is nobody to tell.
        }
    }

    private func answer(_ client: ServiceConnection) async throws {
        let connection = client.connection
        let deadline = connection.takeDeadline()
        let framing: BodyFraming
        do {
            framing = try connection.framing.get()
        } catch {
            throw MessageError(error)
        }
        let identifier = ObjectIdentifier(client)
        let request = ServiceRequest(
            head: connection.request, peer: connection.peer,
            lookUpPeer: { await self.peerUser(of: identifier) },
            departure: { await self.departure(of: identifier) })
        enter(.answering, client)
        switch await responder.judge(request) {
        case .refused(let reply):
            try await send(reply, unread: framing, client)
        case .accepted(let acceptance):
            guard !framing.exceeds(ServiceLimits.bodyBytes) else { throw MessageError.bodyTooLarge }
            let takesBody = acceptance.bodyLimit > 0
            enter(.receiving, client)
            let body =
                takesBody
                ? try await self.body(framing, of: client, acceptance.bodyLimit, until: deadline) : []
            guard acceptance.isProbe || workCount < limits.requestsAtOnce else {
                return try await send(responder.refusal(.busy), unread: takesBody ? .none : framing, client)
            }
            enter(.answering, client)
            let reply = await work(on: acceptance, body)
            try await send(reply, unread: takesBody ? .none : framing, client)
        }
    }

    private func peerUser(of identifier: ObjectIdentifier) async -> PeerUser {
        guard let client = clients[identifier] else { return .nobody }
        if let user = client.peerUser { return user }
        guard let ends = client.connection.stream.ends else { return .nobody }
        let user = await peers.user(at: ends)
        guard case .known = user else { return user }
        // Once a connection has ended, another user's may have its addresses.
        guard client.connection.stream.isConnected else { return .nobody }
        client.peerUser = user
        return user
    }

    private func departure(of identifier: ObjectIdentifier) async {
        while !Task.isCancelled, let client = clients[identifier],
            client.connection.lookAtPeer() == .present
        {
            await loop.pause(for: Self.departurePause)
        }
    }

    private func work(on acceptance: ServiceAcceptance, _ body: [UInt8]) async -> ServiceReply {
        if !acceptance.isProbe { workCount += 1 }
        defer { if !acceptance.isProbe { workCount -= 1 } }
        return await acceptance.answer(body)
    }

    private func body(
        _ framing: BodyFraming, of client: ServiceConnection, _ limit: UInt64,
        until deadline: ContinuousClock.Instant?
    ) async throws -> [UInt8] {
        let connection = client.connection
        connection.incoming.begin(framing, limit: limit)
        if connection.request.fields.containsToken("100-continue", in: .expect) {
            var invitation = HTTPResponse(status: 100)
            try await connection.send(interim: &invitation, within: timeouts.header)
        }
        return try await connection.incoming.collect(until: deadline)
    }

    /// Sends the reply, and ends the connection if a body was left unread.
    private func send(_ reply: ServiceReply, unread: BodyFraming, _ client: ServiceConnection) async throws {
        let isWhole = unread == .none || unread == .length(0)
        if !isWhole { client.connection.leaveRequestUnread() }
        enter(.sending, client)
        try await send(reply, on: client.connection)
        if !isWhole { await linger(client) }
    }

    private func linger(_ client: ServiceConnection) async {
        enter(.lingering, client)
        await client.connection.lingerAndClose(within: Self.longestLinger)
    }

    private func send(_ reply: ServiceReply, on connection: ServerConnection) async throws {
        var head = reply.head
        head.fields.append(date.now)
        let isHead = connection.request.method == .head
        if isStopping { connection.endConnectionAfterAnswer() }
        switch reply.body {
        case .bytes(let bytes):
            if head.status != 204, head.status != 304 { head.fields[.contentLength] = String(bytes.count) }
            if !connection.persists { head.fields[.connection] = "close" }
            var output: [UInt8] = []
            head.serialize(into: &output)
            if !isHead { output.append(contentsOf: bytes) }
            try await connection.stream.write(output, within: timeouts.streamIdle)
        case .stream(let produce):
            let isChunked = connection.request.version == .http11
            if isChunked {
                head.fields[.transferEncoding] = "chunked"
            } else {
                connection.endConnectionAfterAnswer()
            }
            if !connection.persists { head.fields[.connection] = "close" }
            var output: [UInt8] = []
            head.serialize(into: &output)
            try await connection.stream.write(output, within: timeouts.streamIdle)
            guard !isHead else { return }
            let writer = ServiceBodyWriter(
                stream: connection.stream, isChunked: isChunked, loop: loop, timeout: timeouts.streamIdle)
            try await produce(writer)
            try await writer.finish()
        }
    }

    private func refuse(_ error: MessageError, _ client: ServiceConnection) async {
        guard let reason = ServiceRefusal(error) else { return }
        client.connection.endConnectionAfterAnswer()
        enter(.sending, client)
        do {
            try await send(responder.refusal(reason), on: client.connection)
        } catch {
            return
        }
        await linger(client)
    }
}

extension ServiceRefusal {
    /// The refusal for a receive error; nil if the client is gone or cannot be answered.
    fileprivate init?(_ error: MessageError) {
        switch error {
        case .malformed(let reason): self = .malformed(reason)
        case .bodyTooLarge: self = .bodyTooLarge
        case .headTimedOut, .stream(.timedOut): self = .timedOut
        case .unencrypted, .truncated, .stream: return nil
        }
    }
}

extension BodyFraming {
    /// Returns true if the head already announces a body larger than `limit`.
    fileprivate func exceeds(_ limit: UInt64) -> Bool {
        switch self {
        case .length(let length): length > limit
        case .none, .chunked, .untilClose: false
        }
    }
}
