// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages

/// Forwards the requests of one kind of client on one event loop; see ``serve(_:)``.
///
/// It knows messages, whatever protocols carry them, and no socket. It is confined to the loop's thread: its
/// functions run on the executor of their caller, so that no call on a request's way has to switch executors.
final class Forwarder<Client: ClientExchange, Kinds: UpstreamKinds> {
    typealias Exchange = BearerdProxy.Exchange<Client, Kinds>

    let loop: EventLoop
    /// The state that the worker's forwarders share.
    let worker: WorkerState<Kinds>
    /// The recorder of ``worker``, kept here because every request needs it.
    let recorder: Recorder
    let clients: ClientWatch<Client, Kinds>

    init(loop: EventLoop, worker: WorkerState<Kinds>) {
        self.loop = loop
        self.worker = worker
        recorder = worker.recorder
        clients = ClientWatch(loop: loop, patience: worker.snapshot.serverTimeouts.halfClosed)
        clients.leave = { [unowned self] in leave($0) }
    }

    /// Applies the time-outs of the worker's new snapshot.
    func useSnapshot() { clients.use(patience: worker.snapshot.serverTimeouts.halfClosed) }

    /// Makes an exchange that is reused for one connection after another.
    func makeExchange(for client: Client, on routing: ListenerRouting<Kinds>) -> Exchange {
        Exchange(client: client, routing: routing, loop: loop)
    }

    /// True if the client's connection ends with the current response.
    @inline(__always)
    func endsConnection(of exchange: Exchange) -> Bool {
        guard !worker.isDraining else { return true }
        let (routing, version) = (exchange.routing, exchange.client.request.version)
        guard routing.version != worker.version else { return routing.endsConnections(of: version) }
        // A reload has come since the request began.
        return worker.routing.ends(version, at: routing.listener)
    }
}
