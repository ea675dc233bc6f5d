// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop

/// One worker's connections to the upstream of one route, on which exchanges begin and end.
///
/// Callers count exchanges. How many share a connection, and which connections are kept, is up to the pool. A
/// pool is confined to its loop's thread.
package protocol ExchangePool: AnyObject {
    associatedtype Exchange: UpstreamExchange
    /// The right to one more exchange, on a connection that may have to be opened for it.
    associatedtype Permit
    /// True if exchanges share connections, so that a request may harm others.
    static var sharesConnections: Bool { get }

    /// Begins an exchange on a kept connection; nil if none can carry it.
    ///
    /// - Parameters:
    ///   - form: the needs of the request; not every connection that carries a GET can carry a WebSocket.
    ///   - mayRepeat: true if the request may be sent again should the upstream have closed the connection
    ///     meanwhile.
    func take(for form: RequestForm, mayRepeat: Bool) -> Exchange?

    /// Takes a permit for ``open(for:within:with:)`` if one is free and no other caller waits for it.
    func takePermit() -> Permit?

    /// Begins an exchange on a new connection or, at the limit, on one that another exchange has released.
    ///
    /// - Parameters:
    ///   - form: the needs of the request.
    ///   - timeout: limits the wait for a free place plus the time to connect; zero waits for ever.
    ///   - permit: one that the caller has already taken.
    /// - Throws: ``UpstreamError/busy`` if no place becomes free in time.
    func open(
        for form: RequestForm, within timeout: Duration, with permit: Permit?
    ) async throws(UpstreamError) -> Exchange

    /// Ends a complete exchange and keeps its connection open for others if possible.
    ///
    /// - Parameter isRequestWhole: true if the upstream has received the whole request.
    func end(_ exchange: Exchange, isRequestWhole: Bool)

    /// Abandons an incomplete exchange, and closes its connection if that cannot be used without it.
    func discard(_ exchange: Exchange)

    /// Learns from a kept connection that the upstream had closed before this exchange used it.
    ///
    /// - Parameter instant: when the connection stopped being idle.
    func heedEnd(of exchange: Exchange, at instant: CoarseInstant)

    /// Learns that the upstream has wanted a request by another protocol that cannot be sent again.
    func heedLoss()

    /// The numbers of connections at this moment.
    var connections: UpstreamConnections { get }
    /// True if the workers together use more than half of the places.
    var isCrowded: Bool { get }

    /// Closes the idle connections of this pool and of its siblings on other loops.
    func closeIdleEverywhere()

    /// Gives up what is kept for later exchanges, but for connections.
    func releaseMemory()

    /// Closes idle connections now, and those in use when their exchanges end.
    func close()

    /// Called when the process has no descriptor left, to release what this and other pools only keep for
    /// later.
    var onShortage: () -> Void { get set }
}

extension ExchangePool {
    package static var sharesConnections: Bool { false }
    package func releaseMemory() {}
    package func heedLoss() {}
}
