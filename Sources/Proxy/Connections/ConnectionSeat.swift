// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange
internal import BearerdHTTPServer

/// A place for one HTTP/1.1 connection of a client after another, with all that serving it needs.
///
/// What it holds is used again: a new task, parser and exchange cost as much as half a request.
final class ConnectionSeat<Pool: ExchangePool> {
    let connection: ServerConnection
    let exchange: Exchange<ServerConnection, Pool>
    /// Where it is among those that have a connection.
    var position = 0
    /// Whether its connection has been served before, and has agreed on keys if it is encrypted.
    var isSecured = false
    /// Resumed with the next connection, or with `false` when there will be none.
    var vacancy: CheckedContinuation<Bool, Never>?

    init(_ exchange: Exchange<ServerConnection, Pool>) {
        connection = exchange.client
        self.exchange = exchange
    }
}
