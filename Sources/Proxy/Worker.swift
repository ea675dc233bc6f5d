// SPDX-License-Identifier: Apache-2.0

package import EventLoop
internal import HTTPClient
internal import HTTPServer
package import Observability

/// One event loop's share of the proxy: its listeners and, through its ``ConnectionKeeper``, all connections.
///
/// The actor is the door for other threads. What happens to a request happens in the ``Forwarder``, which never
/// asks whose executor it is on.
package actor Worker: LoopConfined {
    package nonisolated let loop: EventLoop

    private let configuration: WorkerConfiguration
    private let forwarder: Forwarder<ServerConnection, UpstreamPool>
    private let keeper: ConnectionKeeper<UpstreamPool>
    private var listeners: [Listener] = []
    /// Accepted while another worker let the last one in that there was room for: they wait as if in the queue.
    private var waiting: [(stream: ByteStream, peer: PeerAddress, listener: Int)] = []
    /// Whether the accept queues wait for room.
    private var isFull = false

    /// - Parameters:
    ///   - loop: must be running, or be started soon.
    package init(loop: EventLoop, configuration: WorkerConfiguration) {
        self.loop = loop
        self.configuration = configuration
        forwarder = Forwarder(
            loop: loop, configuration: configuration, pools: configuration.makePools(on: loop))
        keeper = ConnectionKeeper(loop: loop, configuration: configuration, forwarder: forwarder)
    }

    /// Accepts connections on `socket` until ``drain()``.
    ///
    /// - Parameter index: of the listener in the configuration.
    /// - Throws: ``StreamError`` when the kernel cannot watch the socket.
    package func listen(on socket: ListeningSocket, listener index: Int) throws(StreamError) {
        listeners.append(
            try Listener(
                socket, loop: loop, security: socket.address == nil ? nil : configuration.security,
                onShortage: { self.forwarder.closeIdleUpstreams() }
            ) { stream, peer in
                // On the loop's thread, which is this actor's executor. The cycle ends in stopAccepting().
                self.accepted(stream, peer, listener: index)
            })
    }

    /// Serves what waits in the accept queues, then accepts no more; the sockets may be closed after that.
    package func stopAccepting() {
        forwarder.isDraining = true
        acceptWaiting()
        listeners.forEach { $0.close() }
        listeners = []
    }

    /// Stops accepting, then returns when the last connection is gone.
    ///
    /// Requests on kept connections are answered with `Connection: close`; what stays idle is let go after `linger`.
    package func drain(linger: Duration) async {
        stopAccepting()
        await keeper.drain(linger: linger)
    }

    /// Cuts every connection.
    package func stop() {
        stopAccepting()
        keeper.stop()
    }

    /// Does nothing, on the worker's loop: whoever waits for it learns that the loop turns.
    package func turn() {}

    /// What was counted so far.
    package func metricsSnapshot() -> WorkerMetrics { forwarder.metricsSnapshot() }

    // MARK: Accepting

    private func accepted(_ stream: ByteStream, _ peer: PeerAddress, listener: Int) {
        guard keeper.admits(stream, from: peer, on: self) else { return }
        let admission = configuration.connectionBudget.enter(mayExceed: forwarder.isDraining) { [loop] in
            loop.execute { self.assumeIsolated { worker in worker.resumeAccepting() } }
        }
        if admission != .withRoomForMore {
            isFull = true
            listeners.forEach { $0.pause() }
        }
        guard admission != .refused else { return waiting.append((stream, peer, listener)) }
        keeper.serve(stream, from: peer, listener: listener, on: self)
    }

    private func resumeAccepting() {
        isFull = false
        acceptWaiting()
        if !isFull { listeners.forEach { $0.resume() } }
    }

    private func acceptWaiting() {
        let connections = waiting
        waiting = []
        for (stream, peer, index) in connections { accepted(stream, peer, listener: index) }
    }
}
