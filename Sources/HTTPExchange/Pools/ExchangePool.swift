// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop

/// One worker's way to one route's upstream: has exchanges begin and end on connections that it keeps.
///
/// Who asks it counts exchanges; how many of them share a connection, and which connections stay, is the pool's affair.
/// Confined to its loop's thread.
package protocol ExchangePool: AnyObject {
    associatedtype Exchange: UpstreamExchange
    /// A right to one more exchange, on a connection that may have to be made for it.
    associatedtype Place

    /// An exchange on a connection that is kept, if there is one that can carry it.
    ///
    /// - Parameters:
    ///   - form: what the request needs: not every connection that carries a GET can carry a WebSocket.
    ///   - mayRepeat: whether the request may be sent once more, should the upstream have closed meanwhile.
    func take(for form: RequestForm, mayRepeat: Bool) -> Exchange?

    /// Takes a place for ``open(within:in:)``, if one is free and nobody waits for it.
    func takePlace() -> Place?

    /// An exchange on a connection that no request has used before, or, when the limit is reached, on one that another
    /// exchange has left.
    ///
    /// - Parameters:
    ///   - form: what the request needs of the connection.
    ///   - timeout: of the wait for a free place, and of the connecting; zero waits for ever.
    ///   - place: one that the caller has taken already.
    /// - Throws: ``UpstreamError/busy`` when no place comes free in time.
    func open(
        for form: RequestForm, within timeout: Duration, in place: Place?
    ) async throws(UpstreamError) -> Exchange

    /// Ends the exchange; its connection stays open for others if that can be.
    ///
    /// - Parameter isRequestWhole: whether the upstream has got all of the request.
    func end(_ exchange: Exchange, isRequestWhole: Bool)

    /// Ends the exchange, which is not over, and whatever on its connection cannot go on without it.
    func discard(_ exchange: Exchange)

    /// Learns that the upstream has ended the connection that was kept for this exchange.
    ///
    /// - Parameter instant: when it was no longer idle.
    func heedEnd(of exchange: Exchange, at instant: CoarseInstant)

    /// The connections that there are now.
    var connections: UpstreamConnections { get }
    /// Whether more than half of the places are taken, by all workers.
    var isCrowded: Bool { get }

    /// Closes what is idle, here and on the other loops.
    func closeIdleEverywhere()

    /// Closes what is idle, and what is in use when its exchange ends.
    func close()

    /// Lets go of what is only kept for later, by this pool and others; no descriptor is left.
    var onShortage: () -> Void { get set }
}
