// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange

/// How long a request is in flight before somebody looks, and how often the timer fires while it is needed.
private let usualPace = Duration.milliseconds(100)
/// How often a client that still sends is looked at.
private let sendingPace = Duration.seconds(1)

/// Finds out which clients have gone while their requests are in flight, whatever these wait for.
///
/// A request that is over soon costs nothing here: one timer for all looks at those that have been in flight for a
/// while. From that look on each edge of the client's socket is heeded, so that a reset counts as soon as it comes.
/// Confined to its loop's thread.
final class ClientWatch<Client: ClientExchange, Pool: ExchangePool> {
    typealias Exchange = BearerdProxy.Exchange<Client, Pool>

    private let loop: EventLoop
    /// How long a half-closed client may take nothing; zero for ever.
    private var patience: Duration
    private var pace: Duration
    /// Calls back with each exchange whose client has a connection.
    var forEachExchange: ((Exchange) -> Void) -> Void = { _ in }
    /// Ends whatever is done for a client that is gone.
    var leave: (Exchange) -> Void = { _ in }
    private var isTimerSet = false
    private lazy var timer = LoopTimer(loop: loop) { [unowned self] in  // the timer goes with us
        lookAtAll()
    }

    /// - Parameter patience: `timeouts.half_closed`; zero turns it off.
    init(loop: EventLoop, patience: Duration) {
        self.loop = loop
        self.patience = patience
        pace = Self.pace(for: patience)
    }

    /// Waits differently for half-closed clients from here on.
    func use(patience: Duration) {
        self.patience = patience
        pace = Self.pace(for: patience)
    }

    private static func pace(for patience: Duration) -> Duration {
        patience > .zero ? min(usualPace, max(patience / 4, .milliseconds(1))) : usualPace
    }

    /// A request is in flight from here on.
    @inline(__always)
    func begin(_ exchange: Exchange) {
        exchange.presence.state = .unseen
        if !isTimerSet { setTimer() }
    }

    /// The request is over.
    @inline(__always)
    func end(_ exchange: Exchange) {
        if exchange.presence.state != .unseen { exchange.client.watchPeer(nil) }
        exchange.presence.state = .idle
    }

    private func setTimer() {
        isTimerSet = true
        timer.set(after: pace)
    }

    private func lookAtAll() {
        isTimerSet = false
        let now = ContinuousClock.now
        var isNeeded = false
        forEachExchange { exchange in
            guard mustLook(at: exchange, again: &isNeeded, now) else { return }
            if look(at: exchange, now) { isNeeded = true }
        }
        if isNeeded { setTimer() }
    }

    /// - Parameter isNeeded: becomes true if the time to look is to come.
    private func mustLook(
        at exchange: Exchange, again isNeeded: inout Bool, _ now: ContinuousClock.Instant
    ) -> Bool {
        let isDue =
            switch exchange.presence.state {
            case .idle, .present, .gone: false
            case .halfClosed: true
            case .unseen: exchange.record.startedAt.duration(to: now) >= pace
            case .sending:
                exchange.upload.hasArrived || exchange.presence.lookedAt.duration(to: now) >= sendingPace
            }
        if !isDue, exchange.presence.state == .unseen || exchange.presence.state == .sending {
            isNeeded = true
        }
        return isDue
    }

    /// - Returns: whether the timer is needed for it.
    private func look(at exchange: Exchange, _ now: ContinuousClock.Instant) -> Bool {
        exchange.presence.lookedAt = now
        if exchange.presence.state == .unseen {
            // It goes before the exchange does, in end(_:).
            exchange.client.watchPeer { [unowned self, unowned exchange] in edge(of: exchange) }
        }
        switch exchange.client.lookAtPeer() {
        case .present:
            exchange.presence.state = exchange.upload.hasArrived ? .present : .sending
            return exchange.presence.state == .sending
        case .hasEnded:
            return judgeHalfClosed(exchange, now)
        case .hasLeft where exchange.isTunnel:
            exchange.presence.state = .present
            return false
        case .hasLeft, .hasReset:
            leave(exchange)
            return false
        }
    }

    private func edge(of exchange: Exchange) {
        guard exchange.presence.state != .gone else { return }
        if look(at: exchange, .now), !isTimerSet { setTimer() }
    }

    /// In a tunnel an end is passed on, and what is silent is not timed.
    private func judgeHalfClosed(_ exchange: Exchange, _ now: ContinuousClock.Instant) -> Bool {
        guard patience > .zero, !exchange.isTunnel else {
            exchange.presence.state = .present
            return false
        }
        let progress = exchange.client.progress
        guard exchange.presence.state == .halfClosed, progress == exchange.presence.progress else {
            exchange.presence.state = .halfClosed
            exchange.presence.progress = progress
            exchange.presence.movedAt = now
            return true
        }
        guard exchange.presence.movedAt.duration(to: now) >= patience else { return true }
        leave(exchange)
        return false
    }
}
