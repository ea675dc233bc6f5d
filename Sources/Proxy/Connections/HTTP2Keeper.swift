// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTP2
internal import BearerdHTTP2Streams
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdHTTPServer
internal import BearerdObservability

/// The most vacant seats kept for later streams.
private let vacancies = 256
/// How long a client that was told everything may go on sending.
private let lingerLimit = Duration.seconds(2)

/// Serves the HTTP/2 connections of one event loop's clients and hands each stream that has a head to the
/// ``Forwarder``.
///
/// Confined to the loop's thread. A connection has a task that receives and one that sends, and each stream one.
final class HTTP2Keeper<Kinds: UpstreamKinds> {
    typealias Seat = StreamSeat<Kinds>
    typealias Client = HTTP2Client<Kinds>

    private let loop: EventLoop
    private let forwarder: Forwarder<ServerStream, Kinds>
    /// The connections, in no order.
    private var clients: [Client] = []
    /// The seats without a stream; each keeps its task.
    private let vacant = VacantSeats<Seat>(atMost: vacancies)
    private let streams = StreamPool(atMost: vacancies)
    private var lingerTimer: LoopTimer?
    private let end: KeeperEnd
    /// Called when a stream was served.
    var onWork: () -> Void = {}
    /// Called with a connection that has ended.
    var onEnd: (ByteStream) -> Void = { _ in }

    init(loop: EventLoop, forwarder: Forwarder<ServerStream, Kinds>) {
        self.loop = loop
        end = KeeperEnd(loop: loop)
        self.forwarder = forwarder
        // The forwarder and its watch end with us.
        forwarder.clients.forEachExchange = { [unowned self] body in
            for client in clients { for seat in client.seats { body(seat.exchange) } }
        }
    }

    private var snapshot: RoutingSnapshot { forwarder.worker.snapshot }
    private var limits: HTTP2Limits { HTTP2Limits(streams: snapshot.streams, head: snapshot.headLimits) }

    /// Applies the limits and time-outs of the worker's new snapshot to all connections.
    func useSnapshot() {
        forwarder.useSnapshot()
        vacant.dismiss()
        for client in clients {
            client.use(limits, snapshot.serverTimeouts)
            guard forwarder.worker.routing.ends(.http2, at: client.routing.listener) else { continue }
            client.beginShutdown(within: .seconds(1))
        }
    }

    /// Tells all clients that their connections end.
    ///
    /// - Parameter linger: how long streams are still taken that may be on their way.
    func beginDrain(linger: Duration) {
        vacant.dismiss()
        for client in clients { client.beginShutdown() }
        let timer = LoopTimer(loop: loop) { [unowned self] in
            for client in clients { client.finishShutdown() }
        }
        lingerTimer = timer
        timer.set(after: linger)
    }

    /// Waits until the last connection has ended and all of it is recorded.
    func awaitEnd() async {
        await end.wait(unless: { clients.isEmpty })
        lingerTimer = nil
        forwarder.recorder.flush()
    }

    /// Ends every exchange.
    ///
    /// Clients that wait for an answer have a moment to take one, all others are left at once.
    func stop() {
        vacant.dismiss()
        for client in clients {
            for seat in client.seats { forwarder.hurry(seat.exchange) }
            if client.seats.isEmpty { client.connection.close() }
        }
        end.hurry { [unowned self] in
            for client in clients {
                for seat in client.seats { forwarder.leave(seat.exchange) }
                client.connection.close()
            }
        }
    }

    /// Gives up what is kept for later streams.
    func releaseMemory() {
        vacant.dismiss()
        streams.empty()
    }

    // MARK: Connections

    /// Serves a connection whose client speaks HTTP/2, until it ends; what has arrived of it is in its input.
    func serve(
        _ stream: ByteStream, from peer: PeerAddress, by routing: ListenerRouting<Kinds>,
        on worker: isolated any Actor
    ) {
        guard let session = HTTP2Session(.server, limits: limits, pool: streams) else {
            stream.close()
            return onEnd(stream)
        }
        let connection = HTTP2Connection(
            stream, session, on: loop, patience: snapshot.serverTimeouts.streamIdle)
        let client = Client(connection, from: peer, by: routing, timeouts: snapshot.serverTimeouts)
        connection.onStream = { [unowned self, unowned client] stream in
            // On the loop's thread, which is the worker's executor.
            begin(stream, of: client, on: worker)
        }
        client.position = clients.count
        clients.append(client)
        if forwarder.worker.isDraining { client.beginShutdown() }
        _ = loop.startTask { await self.keep(client) }
    }

    /// Ends one of our connections at once.
    ///
    /// - Returns: false if it is none of ours.
    func close(_ stream: ByteStream) -> Bool {
        guard let client = clients.first(where: { $0.connection.stream === stream }) else { return false }
        client.connection.close()
        return true
    }

    private func keep(_ client: Client) async {
        await client.connection.run(lingering: lingerLimit)
        if let flood = client.connection.session.flood {
            forwarder.recorder.metrics.countDenial(.flood)
            client.routing.listener.floods?.ended(client.peer, for: flood)
        }
        client.hasEnded = true
        onEnd(client.connection.stream)
        removeIfOver(client)
    }

    /// Forgets a connection that has ended, once none of its streams is being served.
    private func removeIfOver(_ client: Client) {
        guard client.hasEnded, client.seats.isEmpty else { return }
        if let last = clients.popLast(), last !== client {
            clients[client.position] = last
            last.position = client.position
        }
        if clients.isEmpty { end.come() }
    }

    // MARK: Streams

    private func begin(_ stream: HTTP2Stream, of client: Client, on worker: isolated any Actor) {
        if let seat = vacant.take() {
            seat.stream.begin(stream, on: client.connection, from: client.peer)
            seat.exchange.use(client.routing, isAdmitted: client.isAdmitted, host: client.host)
            attach(seat, to: client)
            return vacant.resume(seat)
        }
        let stream = ServerStream(stream, on: client.connection, from: client.peer)
        let exchange = forwarder.makeExchange(for: stream, on: client.routing)
        // Both end with the seat, and the forwarder after all seats.
        stream.onReset = { [unowned forwarder, unowned exchange] in
            forwarder.clients.heedReset(of: exchange)
        }
        let seat = Seat(exchange, on: loop)
        attach(seat, to: client)
        _ = loop.startTask { await self.keep(seat) }
    }

    private func attach(_ seat: Seat, to client: Client) {
        client.attach(seat)
    }

    private func detach(_ seat: Seat) {
        guard let client = seat.client else { return }
        client.detach(seat)
        removeIfOver(client)
    }

    /// Serves one stream after another in the same seat.
    private func keep(_ seat: Seat) async {
        repeat {
            if let refusal = seat.stream.refusal {
                _ = await forwarder.refuse(refusal, seat.exchange)
            } else {
                await forwarder.serve(seat.exchange)
            }
            seat.stream.conclude()
            detach(seat)
            onWork()
        } while await vacant.isNeededAgain(seat, unless: forwarder.worker.isDraining)
    }
}
