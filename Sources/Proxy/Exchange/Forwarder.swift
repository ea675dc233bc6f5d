// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange

/// Takes one request after another of one kind of client through one event loop's share of the proxy: see
/// ``serve(_:)``.
///
/// It knows messages, whatever protocols carry them, and never a socket. Confined to the loop's thread: all its
/// functions run on the executor of their caller, so that none of the calls on a request's way has to ask for the
/// executor it is on already.
final class Forwarder<Client: ClientExchange, Pool: ExchangePool> {
    typealias Exchange = BearerdProxy.Exchange<Client, Pool>

    let loop: EventLoop
    /// What it has in common with other kinds of clients.
    let worker: WorkerState<Pool>
    /// The recorder of ``worker``, kept here because every request needs it.
    let recorder: Recorder
    let clients: ClientWatch<Client, Pool>

    init(loop: EventLoop, worker: WorkerState<Pool>) {
        self.loop = loop
        self.worker = worker
        recorder = worker.recorder
        clients = ClientWatch(loop: loop, patience: worker.snapshot.serverTimeouts.halfClosed)
        clients.leave = { [unowned self] in leave($0) }
    }

    /// Keeps to the time-outs of the worker's snapshot, which is another one.
    func useSnapshot() { clients.use(patience: worker.snapshot.serverTimeouts.halfClosed) }

    /// An exchange for the clients of one connection after another.
    func makeExchange(for client: Client, on routing: ListenerRouting<Pool>) -> Exchange {
        Exchange(client: client, routing: routing, loop: loop)
    }

    /// Whether the client's connection ends with the answer at hand.
    @inline(__always)
    func endsConnection(of exchange: Exchange) -> Bool { worker.isDraining || exchange.routing.isClosing }
}
