// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
internal import BearerdHTTP2Streams
internal import BearerdHTTPClient
internal import BearerdHTTPServer
package import BearerdObservability
internal import BearerdRouting

/// One event loop's share of the proxy: its listeners and, through a ``ConnectionKeeper``, all their
/// connections.
///
/// The actor serves as the entrance for other threads. Requests are handled by the ``Forwarder``, which never
/// switches executors.
package actor Worker: LoopConfined {
    package nonisolated let loop: EventLoop

    private let budget: ConnectionBudget
    /// The state that all protocols share.
    private let state: WorkerState<WorkerKinds>
    /// The forwarder for clients that use HTTP/1.1.
    private let forwarder: Forwarder<ServerConnection, WorkerKinds>
    private let keeper: ConnectionKeeper<WorkerKinds>
    /// The forwarder for clients that use HTTP/2.
    private let streamForwarder: Forwarder<ServerStream, WorkerKinds>
    private let streamKeeper: HTTP2Keeper<WorkerKinds>
    private var entrances: [ListenerKey: Entrance] = [:]
    /// Connections accepted while another worker took the last place; they wait as if they were in the accept
    /// queue.
    private var waiting: [(stream: ByteStream, peer: PeerAddress, entrance: Entrance)] = []
    /// True while the accept queues wait for room.
    private var isFull = false

    /// One listener's sockets, as far as this worker watches them.
    private final class Entrance {
        /// The listener's routing; nil until a snapshot has this listener, and connections wait until then.
        var routing: ListenerRouting<WorkerKinds>?
        var listeners: [Listener] = []
    }

    /// - Parameters:
    ///   - loop: the loop, which runs or will be started soon.
    ///   - budget: shared with the other workers.
    package init(loop: EventLoop, snapshot: RoutingSnapshot, budget: ConnectionBudget) {
        self.loop = loop
        self.budget = budget
        let multis = CurlMultiSet(loop: loop)
        state = WorkerState(loop: loop, snapshot: snapshot) { $0.makePools(multis) }
        forwarder = Forwarder(loop: loop, worker: state)
        streamForwarder = Forwarder(loop: loop, worker: state)
        streamKeeper = HTTP2Keeper(loop: loop, forwarder: streamForwarder)
        keeper = ConnectionKeeper(loop: loop, budget: budget, forwarder: forwarder, http2Keeper: streamKeeper)
    }

    /// Applies a snapshot to the requests that begin from now on.
    ///
    /// - Parameter delay: how long event streams and tunnels may go on that the snapshot would refuse.
    package func use(_ snapshot: RoutingSnapshot, endingStreamsAfter delay: Duration) {
        // One that stood still gets them all at once, perhaps not in their order.
        guard snapshot.version > state.snapshot.version else { return }
        take(snapshot, endingStreamsAfter: delay)
    }

    /// Judges all requests again, because a key or an authority for client certificates has changed.
    ///
    /// - Parameter delay: how long event streams and tunnels may go on that would now be refused.
    package func judgeAgain(endingStreamsAfter delay: Duration) {
        take(state.snapshot, endingStreamsAfter: delay)
    }

    private func take(_ snapshot: RoutingSnapshot, endingStreamsAfter delay: Duration) {
        state.use(snapshot)
        let hasFound = forwarder.judgeAgain()
        if streamForwarder.judgeAgain() || hasFound { endStreams(after: delay) }
        keeper.useSnapshot()
        streamKeeper.useSnapshot()
        var opens = false
        for (key, entrance) in entrances {
            let known = entrance.routing.map { state.routing.routing(at: $0.listener) }
            guard let routing = known ?? state.routing[key] else { continue }
            opens = opens || entrance.routing == nil
            entrance.routing = routing
            for listener in entrance.listeners { listener.security = routing.listener.security }
        }
        if opens, !isFull { resumeAccepting() }
    }

    private func endStreams(after delay: Duration) {
        let version = state.version
        // On the loop's thread, which is this actor's executor.
        _ = loop.startTask { [loop, forwarder, streamForwarder] in
            await loop.pause(for: delay)
            // A request that waits for its answer may still become a stream.
            while true {
                let hasOthers = forwarder.endStreams(revokedBy: version)
                guard streamForwarder.endStreams(revokedBy: version) || hasOthers else { return }
                await loop.pause(for: max(delay, .seconds(1)))
            }
        }
    }

    /// Accepts connections on `socket` until ``drain(linger:)`` or ``stopListening(at:on:)``.
    ///
    /// - Parameters:
    ///   - key: the listener; its connections wait until a snapshot has it.
    ///   - security: encrypts connections over TCP; nil leaves them plain.
    /// - Throws: ``StreamError`` if the kernel cannot watch the socket.
    package func listen(
        on socket: ListeningSocket, at key: ListenerKey, security: (any ConnectionSecurity)?
    ) throws(StreamError) {
        guard !state.isDraining else { return }
        let entrance = entrances[key] ?? Entrance()
        if entrance.routing == nil { entrance.routing = state.routing[key] }
        entrances[key] = entrance
        let listener = try Listener(
            socket, loop: loop, security: entrance.routing?.listener.security ?? security,
            onShortage: { self.state.closeIdleUpstreams() }
        ) { [unowned entrance] stream, peer in
            // On the loop's thread, which is this actor's executor. The cycle ends with the listener's close().
            self.accepted(stream, peer, entrance)
        }
        if isFull { listener.pause() }
        entrance.listeners.append(listener)
    }

    /// Serves the connections in the accept queues of a listener's sockets, then accepts no more there; afterwards they may
    /// be closed.
    ///
    /// - Parameter sockets: all of the listener's, or those in whose place others are.
    package func stopListening(at key: ListenerKey, on sockets: [ListeningSocket]) {
        guard let entrance = entrances[key] else { return }
        for listener in entrance.listeners where sockets.contains(where: listener.isOn) { listener.close() }
        entrance.listeners.removeAll { listener in sockets.contains(where: listener.isOn) }
        guard entrance.listeners.isEmpty else { return }
        entrances[key] = nil
        guard entrance.routing == nil else { return }
        for (stream, _, place) in waiting where place === entrance { stream.close() }
        waiting.removeAll { $0.entrance === entrance }
    }

    /// Serves the connections in all accept queues, then accepts no more; afterwards the sockets may be
    /// closed.
    package func stopAccepting() {
        state.isDraining = true
        acceptWaiting()
        entrances.values.forEach { close($0) }
        entrances = [:]
    }

    private func close(_ entrance: Entrance) {
        entrance.listeners.forEach { $0.close() }
        entrance.listeners = []
    }

    /// Stops accepting and waits until the last connection has ended.
    ///
    /// Requests on kept connections are answered with `Connection: close`; idle connections are closed after
    /// `linger`.
    package func drain(linger: Duration) async {
        stopAccepting()
        streamKeeper.beginDrain(linger: linger)
        await keeper.drain(linger: linger)
        await streamKeeper.awaitEnd()
    }

    /// Ends every exchange and closes every connection; returns once all of it is recorded.
    package func stop() async {
        state.isStopped = true
        stopAccepting()
        keeper.stop()
        streamKeeper.stop()
        await keeper.awaitEnd()
        await streamKeeper.awaitEnd()
    }

    /// Does nothing on the worker's loop; awaiting it shows that the loop runs.
    package func answer() {}

    /// The counts so far.
    ///
    /// - Parameter endsStep: true if the longest durations are forgotten then, as a step of the history ends.
    package func metricsSnapshot(endsStep: Bool = false) -> WorkerMetrics {
        defer { if endsStep { state.recorder.endStep() } }
        var counts = state.metricsSnapshot()
        for streams in [forwarder.openStreams, streamForwarder.openStreams] {
            for (route, count) in streams { counts.addOpenStreams(count, route: route) }
        }
        return counts
    }

    // MARK: Accepting

    private func accepted(_ stream: ByteStream, _ peer: PeerAddress, _ entrance: Entrance) {
        guard let routing = entrance.routing else {
            guard !state.isDraining else { return stream.close() }
            entrance.listeners.forEach { $0.pause() }
            return waiting.append((stream, peer, entrance))
        }
        guard keeper.takes(peer) else { return stream.close() }
        let admission = budget.enter(mayExceed: state.isDraining)
        if admission != .withRoomForMore { pauseAccepting() }
        guard admission != .refused else { return waiting.append((stream, peer, entrance)) }
        keeper.serve(stream, from: peer, by: routing, on: self)
    }

    private func pauseAccepting() {
        isFull = true
        for listener in entrances.values.flatMap(\.listeners) { listener.pause() }
        budget.awaitRoom { [loop] in
            loop.execute { self.assumeIsolated { worker in worker.resumeAccepting() } }
        }
    }

    private func resumeAccepting() {
        isFull = false
        acceptWaiting()
        guard !isFull else { return }
        for listener in entrances.values.flatMap(\.listeners) { listener.resume() }
    }

    private func acceptWaiting() {
        let connections = waiting
        waiting = []
        for (stream, peer, entrance) in connections { accepted(stream, peer, entrance) }
    }
}
