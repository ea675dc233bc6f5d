// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import HTTPServer

/// Finds out which clients have gone while their requests are in flight, whatever these wait for.
///
/// A request that is over soon costs nothing here: one timer for all looks at those that have been in flight for a
/// while. From that look on each edge of the client's socket is heeded, so that a reset counts as soon as it comes.
/// Confined to its loop's thread.
final class ClientWatch {
    /// How long a request is in flight before somebody looks, and how often the timer fires while it is needed.
    private static let pace = Duration.milliseconds(100)
    /// How often a client that still sends is looked at.
    private static let sendingPace = Duration.seconds(1)

    private let loop: EventLoop
    /// How long a half-closed client may take nothing; zero for ever.
    private let patience: Duration
    private let pace: Duration
    /// Tells those that have a connection.
    var exchanges: () -> [Exchange] = { [] }
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
        pace = patience > .zero ? min(Self.pace, max(patience / 4, .milliseconds(1))) : Self.pace
    }

    /// A request is in flight from here on.
    @inline(__always)
    func begin(_ exchange: Exchange) {
        exchange.clientState = .unseen
        if !isTimerSet { setTimer() }
    }

    /// The request is over.
    @inline(__always)
    func end(_ exchange: Exchange) {
        if exchange.clientState != .unseen { exchange.connection.stream.readiness.onEdge = nil }
        exchange.clientState = .idle
    }

    private func setTimer() {
        isTimerSet = true
        timer.set(after: pace)
    }

    private func lookAtAll() {
        isTimerSet = false
        let now = ContinuousClock.now
        var isNeeded = false
        for exchange in exchanges() where mustLook(at: exchange, again: &isNeeded, now) {
            if look(at: exchange, now) { isNeeded = true }
        }
        if isNeeded { setTimer() }
    }

    /// - Parameter isNeeded: becomes true if the time to look is to come.
    private func mustLook(
        at exchange: Exchange, again isNeeded: inout Bool, _ now: ContinuousClock.Instant
    ) -> Bool {
        let isDue =
            switch exchange.clientState {
            case .idle, .present, .gone: false
            case .halfClosed: true
            case .unseen: exchange.startedAt.duration(to: now) >= pace
            case .sending:
                exchange.upload.hasArrived || exchange.lookedAt.duration(to: now) >= Self.sendingPace
            }
        if !isDue, exchange.clientState == .unseen || exchange.clientState == .sending { isNeeded = true }
        return isDue
    }

    /// - Returns: whether the timer is needed for it.
    private func look(at exchange: Exchange, _ now: ContinuousClock.Instant) -> Bool {
        let stream = exchange.connection.stream
        exchange.lookedAt = now
        if exchange.clientState == .unseen {
            // It goes before the exchange does, in end(_:).
            stream.readiness.onEdge = { [unowned self, unowned exchange] in edge(of: exchange) }
        }
        switch stream.lookAtPeer() {
        case .present:
            exchange.clientState = exchange.upload.hasArrived ? .present : .sending
            return exchange.clientState == .sending
        case .hasEnded:
            return judgeHalfClosed(exchange, now)
        case .hasLeft where exchange.isTunnel:
            exchange.clientState = .present
            return false
        case .hasLeft, .hasReset:
            leave(exchange)
            return false
        }
    }

    private func edge(of exchange: Exchange) {
        guard exchange.clientState != .gone else { return }
        if look(at: exchange, .now), !isTimerSet { setTimer() }
    }

    /// In a tunnel an end is passed on, and what is silent is not timed.
    private func judgeHalfClosed(_ exchange: Exchange, _ now: ContinuousClock.Instant) -> Bool {
        guard patience > .zero, !exchange.isTunnel else {
            exchange.clientState = .present
            return false
        }
        let movement = exchange.connection.stream.movement
        guard exchange.clientState == .halfClosed, movement == exchange.movement else {
            exchange.clientState = .halfClosed
            exchange.movement = movement
            exchange.movedAt = now
            return true
        }
        guard exchange.movedAt.duration(to: now) >= patience else { return true }
        leave(exchange)
        return false
    }
}
