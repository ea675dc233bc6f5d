// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTP1
internal import BearerdHTTP2Streams
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdHTTPServer
internal import BearerdObservability
internal import BearerdSystem

/// The most vacant seats kept for later connections.
private let vacancies = 64
/// The silence after which a connection gives up its task and waits without one.
private let dormantAfter = Duration.seconds(1)
/// Serves the HTTP/1.1 connections of one event loop's clients and hands each request to the ``Forwarder``.
///
/// Confined to the loop's thread. A connection has one task, except while its client is silent.
final class ConnectionKeeper<Kinds: UpstreamKinds> {
    typealias Seat = ConnectionSeat<Kinds>

    private let loop: EventLoop
    private let budget: ConnectionBudget
    private let forwarder: Forwarder<ServerConnection, Kinds>
    /// The keeper for clients that turn out to speak HTTP/2.
    private let http2Keeper: HTTP2Keeper<Kinds>
    /// Gives a connection to ``http2Keeper``; made with the first connection.
    private var serveByHTTP2: ((ByteStream, PeerAddress, ListenerRouting<Kinds>) -> Void)?
    // `self` owns it.
    private lazy var refused = RefusedConnections(loop: loop) { [unowned self] stream in
        if !http2Keeper.close(stream) { stream.close() }
    }
    private var memoryRelief: MemoryRelief?
    /// True once a drain no longer waits for requests on idle connections.
    private var hasLingered = false
    /// How long a drain waits for clients that are silent, slow with a head, or have their last response; nil
    /// while not draining.
    private var linger: Duration?
    private var lingerTimer: LoopTimer?
    private let end: KeeperEnd

    /// The seats that have a connection, in no order.
    private let taken = Exclusive<[Seat]>([])
    private var seats: [Seat] {
        @inline(__always)
        _read { yield taken.value }
        @inline(__always)
        _modify { yield &taken.value }
    }
    /// The seats without a connection; each keeps its task, so that both can be reused.
    private let vacant = VacantSeats<Seat>(atMost: vacancies)
    /// The silent connections; made with the first connection and dropped after a drain, because it refers to
    /// the worker.
    private var dormant: DormantConnections<ListenerPolicy>?

    init(
        loop: EventLoop, budget: ConnectionBudget, forwarder: Forwarder<ServerConnection, Kinds>,
        http2Keeper: HTTP2Keeper<Kinds>
    ) {
        self.loop = loop
        end = KeeperEnd(loop: loop)
        self.budget = budget
        self.forwarder = forwarder
        self.http2Keeper = http2Keeper
        http2Keeper.onEnd = { [unowned self] stream in leave(stream) }
        http2Keeper.onWork = { [unowned self] in memoryRelief?.worked() }
        memoryRelief = MemoryRelief(loop: loop) { [unowned self] in
            vacant.dismiss()
            self.http2Keeper.releaseMemory()
            self.forwarder.worker.releaseMemory()
        } isConnected: { [unowned self] in
            self.forwarder.worker.hasIdleUpstreams
        }
        // The forwarder and its watch end with us.
        forwarder.clients.forEachExchange = { [unowned self] body in for seat in seats { body(seat.exchange) }
        }
    }

    private var snapshot: RoutingSnapshot { forwarder.worker.snapshot }

    /// Applies the limits and time-outs of the worker's new snapshot to all connections, from their next head
    /// or wait on.
    func useSnapshot() {
        forwarder.useSnapshot()
        vacant.dismiss()
        refused.remove(admittedBy: snapshot.access)
        for seat in seats {
            seat.connection.use(snapshot.headLimits, snapshot.serverTimeouts, dormantAfter: dormantAfter)
        }
        dormant?.use(limit: dormantLimit)
    }

    /// Waits until the last connection has ended.
    func drain(linger: Duration) async {
        vacant.dismiss()
        self.linger = linger
        for seat in seats { seat.connection.hurry() }
        let timer = LoopTimer(loop: loop) { [unowned self] in endWaits(pace: linger) }
        lingerTimer = timer
        timer.set(after: linger)
        await awaitEnd()
        timer.cancel()
        lingerTimer = nil
        dormant = nil
    }

    /// Waits until the last connection has ended and all of it is recorded.
    func awaitEnd() async {
        await end.wait(unless: { isEmpty })
        forwarder.recorder.flush()
    }

    /// Ends every exchange.
    ///
    /// A client that waits for an answer has a moment to take one, all others are left at once.
    func stop() {
        vacant.dismiss()
        dormant?.closeAll()
        for seat in seats {
            if seat.exchange.presence.state == .idle {
                seat.connection.close()
            } else {
                forwarder.hurry(seat.exchange)
            }
        }
        memoryRelief?.cancel()
        end.hurry { [unowned self] in for seat in seats { forwarder.leave(seat.exchange) } }
    }

    // MARK: Admission

    /// Returns true if a new connection may be used at all, or has a place among the few that are only told that they may not.
    ///
    /// Their request is refused by its head, in the protocol that its client speaks; so that nobody is kept out by those who
    /// are, they get none of the second half of all places.
    func takes(_ peer: PeerAddress) -> Bool {
        guard !snapshot.access.admits(peer), refused.isFull || budget.isScarce else {
            return true
        }
        forwarder.recorder.metrics.countDenial(.peer)
        return false
    }

    /// Serves a connection that was counted in the budget, until it ends.
    func serve(
        _ stream: ByteStream, from peer: PeerAddress, by routing: ListenerRouting<Kinds>,
        on worker: isolated any Actor
    ) {
        forwarder.recorder.metrics.openConnections += 1
        if dormant == nil { dormant = makeDormant(on: worker) }
        if serveByHTTP2 == nil {
            serveByHTTP2 = { [unowned self] stream, peer, routing in
                // On the loop's thread, which is the worker's executor.
                http2Keeper.serve(stream, from: peer, by: routing, on: worker)
            }
        }
        let isRefused = !snapshot.access.admits(peer)
        if isRefused { refused.add(stream, from: peer) }
        attach(stream, from: peer, by: routing, isSecured: false, isRefused: isRefused, on: worker)
    }

    private var dormantLimit: Duration { max(snapshot.serverTimeouts.idle - dormantAfter, .zero) }

    private func makeDormant(on worker: isolated any Actor) -> DormantConnections<ListenerPolicy> {
        DormantConnections(loop: loop, limit: dormantLimit) { [unowned self] connection in
            // On the loop's thread, which is the worker's executor.
            attach(
                connection.stream, from: connection.peer,
                by: forwarder.worker.routing.routing(at: connection.origin), isSecured: true,
                isRefused: false, silentSince: connection.silentSince, on: worker)
        }
    }

    private func attach(
        _ stream: ByteStream, from peer: PeerAddress, by routing: ListenerRouting<Kinds>, isSecured: Bool,
        isRefused: Bool, silentSince: ContinuousClock.Instant? = nil, on worker: isolated any Actor
    ) {
        if let seat = vacant.take() {
            seat.connection.begin(stream, from: peer)
            seat.exchange.use(routing)
            // Much may have changed while it was silent; and where certificates count this client's is not that of the seat's
            // last one, and may have been accepted under rules that have changed since.
            if isSecured || isRefused || routing.listener.isSecured { seat.exchange.forgetClient() }
            seat.isSecured = isSecured
            if let silentSince { seat.connection.isWoken(silentSince: silentSince) }
            begin(seat)
            return vacant.resume(seat)
        }
        let connection = ServerConnection(
            stream: stream, peer: peer, limits: snapshot.headLimits,
            timeouts: snapshot.serverTimeouts, dormantAfter: dormantAfter)
        let seat = Seat(forwarder.makeExchange(for: connection, on: routing), on: loop)
        seat.isSecured = isSecured
        if let silentSince { connection.isWoken(silentSince: silentSince) }
        begin(seat)
        _ = loop.startTask { await self.keep(seat) }
    }

    // MARK: Seats

    /// Serves one connection after another in the same seat.
    private func keep(_ seat: Seat) async {
        repeat {
            await serve(seat)
        } while await vacant.isNeededAgain(seat, unless: forwarder.worker.isDraining)
    }

    // MARK: A connection's life

    /// Serves one connection until it ends or its client falls silent.
    @inline(__always)
    private func serve(_ seat: Seat) async {
        let connection = seat.connection
        var mustLinger = false
        // What is left of the time that a client has which still sends; nil if that has not begun.
        var rest: Duration?
        do throws(MessageError) {
            let isPlain = !connection.isEncrypted
            let isSecure = seat.isSecured || isPlain ? true : try await connection.secure()
            guard isSecure else {
                forwarder.recorder.metrics.countDenial(.tls)
                await linger(seat)
                return ended(seat)
            }
            // No cipher needs a check: listeners offer none that HTTP/2 prohibits (RFC 9113, appendix A).
            guard isPlain || connection.stream.applicationProtocol != .http2 else { return moveToHTTP2(seat) }
            while try await connection.receiveHead() {
                guard seat.exchange.routing.listener.speaksHTTP1 else {
                    throw .malformed(.unsupportedVersion)
                }
                connection.comeBeforeEnd()
                await forwarder.serve(seat.exchange)
                memoryRelief?.worked()
                mustLinger = mustLingerBehind(seat)
                // The answer has said that the connection goes on (RFC 9112 §9.6).
                if mustLinger, connection.persists {
                    seat.exchange.letGo()
                    rest = await connection.skipRest(within: longestLinger)
                    mustLinger = rest != nil
                }
                guard connection.persists, !mustLinger, !(hasLingered && connection.hasReadAll) else { break }
                connection.answered()
            }
        } catch {
            let isOther = error == .malformed(.unsupportedVersion) && connection.stream.beginsHTTP2
            if isOther, seat.exchange.routing.listener.speaksHTTP2 { return moveToHTTP2(seat) }
            connection.beginNothing()
            mustLinger = await forwarder.refuse(error, seat.exchange)
        }
        if connection.isDormant, !hasLingered, !refused.contains(connection.stream) {
            return park(seat)
        }
        if mustLinger, rest != .zero { await linger(seat, within: rest) } else { await connection.finish() }
        ended(seat)
    }

    /// Gives the connection to the keeper of the other protocol; the seat is then free.
    private func moveToHTTP2(_ seat: Seat) {
        let (stream, peer, routing) = (seat.connection.stream, seat.connection.peer, seat.exchange.routing)
        detach(seat)
        serveByHTTP2?(stream, peer, routing)
        resumeIfEmpty()
    }

    /// - Parameter limit: nil for as long as any client may take.
    private func linger(_ seat: Seat, within limit: Duration? = nil) async {
        seat.exchange.letGo()
        await seat.connection.lingerAndClose(within: limit ?? longestLinger)
    }

    private var longestLinger: Duration { linger ?? ServerConnection.longestLinger }

    /// Returns true if closing now could cost the client its response, because a part of the request is
    /// unread.
    private func mustLingerBehind(_ seat: Seat) -> Bool {
        !seat.connection.incoming.isFinished
            || (seat.exchange.record.status >= 400 && !seat.connection.persists)
    }

    private func begin(_ seat: Seat) {
        seat.position = seats.count
        seats.append(seat)
    }

    private func ended(_ seat: Seat) {
        detach(seat)
        leave(seat.connection.stream)
        resumeIfEmpty()
    }

    /// Gives a connection's place back.
    private func leave(_ stream: ByteStream) {
        refused.remove(stream)
        forwarder.recorder.metrics.openConnections -= 1
        budget.leave()
    }

    /// Moves a silent connection out of its seat, which is then free for another.
    private func park(_ seat: Seat) {
        detach(seat)
        let connection = seat.connection
        dormant?.add(
            connection.stream, from: connection.peer, origin: seat.exchange.routing.listener,
            silentSince: connection.silentSince)
    }

    private func detach(_ seat: Seat) {
        seat.exchange.leaveClient()
        guard let last = seats.popLast(), last !== seat else { return }
        seats[seat.position] = last
        last.position = seat.position
    }

    private var isEmpty: Bool { seats.isEmpty && dormant?.isEmpty ?? true }

    private func resumeIfEmpty() { if isEmpty { end.come() } }

    /// Ends the waits that a drain does not wait for; a client that has just begun a head has until the next
    /// call.
    private func endWaits(pace: Duration) {
        hasLingered = true
        lingerTimer?.set(after: pace)
        for seat in seats { seat.connection.hurry() }
        dormant?.closeAll()
        // Not closed: its task says the end in good order.
        for seat in seats where seat.connection.isIdle { seat.connection.stopReceiving() }
    }
}
