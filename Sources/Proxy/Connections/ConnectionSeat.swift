// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPServer

/// The objects that serve one HTTP/1.1 connection, reused for one connection after another.
///
/// A new task, parser and exchange would cost as much as half a request.
final class ConnectionSeat<Kinds: UpstreamKinds>: ReusableSeat {
    let connection: ServerConnection
    let exchange: Exchange<ServerConnection, Kinds>
    /// The seat's index in ``ConnectionKeeper``'s list of occupied seats.
    var position = 0
    /// True if the TLS handshake is done, because the connection was served before it fell silent.
    var isSecured = false
    let vacancy: LoopWait

    init(_ exchange: Exchange<ServerConnection, Kinds>, on loop: EventLoop) {
        connection = exchange.client
        self.exchange = exchange
        vacancy = LoopWait(loop: loop)
    }
}
