// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange

/// How long a request is in flight before its client is first looked at; also the timer's period while it is
/// needed.
private let usualPace = Duration.milliseconds(100)
/// The interval between looks at a client that is still sending.
private let sendingPace = Duration.seconds(1)

/// Detects clients that leave while their requests are in flight, whatever these wait for.
///
/// A short request costs nothing here: one timer looks at all those that have been in flight for a while.
/// From that look on each event of the client's socket is heeded, so that a reset is noticed at once; one of a stream of
/// HTTP/2 is from the beginning (``heedReset(of:)``).
/// Confined to its loop's thread.
final class ClientWatch<Client: ClientExchange, Kinds: UpstreamKinds> {
    typealias Exchange = BearerdProxy.Exchange<Client, Kinds>

    private let loop: EventLoop
    /// How long a half-closed client may take no data; zero means for ever.
    private var patience: Duration
    private var pace: Duration
    /// Calls its argument with each exchange of a client that has a connection.
    var forEachExchange: ((Exchange) -> Void) -> Void = { _ in }
    /// Ends all work for a client that has left.
    var leave: (Exchange) -> Void = { _ in }
    private var isTimerSet = false
    private lazy var timer = LoopTimer(loop: loop) { [unowned self] in  // `self` owns the timer
        lookAtAll()
    }

    /// - Parameter patience: `timeouts.half_closed`; zero turns it off.
    init(loop: EventLoop, patience: Duration) {
        self.loop = loop
        self.patience = patience
        pace = Self.pace(for: patience)
    }

    /// Changes the limit for half-closed clients.
    func use(patience: Duration) {
        self.patience = patience
        pace = Self.pace(for: patience)
    }

    private static func pace(for patience: Duration) -> Duration {
        patience > .zero ? min(usualPace, max(patience / 4, .milliseconds(1))) : usualPace
    }

    /// Starts to watch the client of a request that begins.
    @inline(__always)
    func begin(_ exchange: Exchange) {
        exchange.presence.state = .unseen
        if !isTimerSet { setTimer() }
    }

    /// Stops to watch the client of a request that is over.
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
        let now = PreciseInstant.now
        var isNeeded = false
        forEachExchange { exchange in
            guard mustLook(at: exchange, again: &isNeeded, now) else { return }
            if look(at: exchange, now) { isNeeded = true }
        }
        if isNeeded { setTimer() }
    }

    /// - Parameter isNeeded: set to true if the exchange is to be looked at later.
    private func mustLook(
        at exchange: Exchange, again isNeeded: inout Bool, _ now: PreciseInstant
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

    /// - Returns: true if the timer must go on for this exchange.
    private func look(at exchange: Exchange, _ now: PreciseInstant) -> Bool {
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

    /// Looks at a client of which it is known that it has left, before its first look.
    func heedReset(of exchange: Exchange) {
        if exchange.presence.state != .idle { edge(of: exchange) }
    }

    private func edge(of exchange: Exchange) {
        guard exchange.presence.state != .gone else { return }
        if look(at: exchange, .now), !isTimerSet { setTimer() }
    }

    /// Ends a half-closed client that has taken no data for too long; in a tunnel the end is passed on
    /// instead.
    private func judgeHalfClosed(_ exchange: Exchange, _ now: PreciseInstant) -> Bool {
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
