// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTP2
internal import BearerdHTTP2Streams
internal import BearerdHTTPExchange
internal import BearerdHTTPServer
internal import BearerdSystem

/// One client's HTTP/2 connection, with the streams that are being served and the time-outs between them.
///
/// Confined to the loop's thread.
final class HTTP2Client<Kinds: UpstreamKinds> {
    let connection: HTTP2Connection
    let peer: PeerAddress
    /// The routing by which its streams begin: that of the last one that has ended.
    var routing: ListenerRouting<Kinds> { currentRouting }
    /// The `Host` that was admitted last under ``routing``; empty without one.
    var host: [UInt8] { admittedHost }
    /// True if the connection is known to be admitted under ``routing``.
    var isAdmitted: Bool { connectionIsAdmitted }
    /// The seats of the streams that are being served, in no order.
    var seats: [StreamSeat<Kinds>] { seating.value }
    /// Its index in the keeper's list.
    var position = 0
    /// True once the connection is closed; streams may still be served that have not noticed.
    var hasEnded = false

    // Private, because the compiler proves of these what it has to check at run time for what others see.
    private var currentRouting: ListenerRouting<Kinds>
    private var admittedHost: [UInt8] = []
    private var connectionIsAdmitted = false
    private let seating = Exclusive<[StreamSeat<Kinds>]>([])
    private var timeouts: ServerTimeouts
    // `self` owns it.
    private lazy var timer = LoopTimer(loop: connection.loop) { [unowned self] in judgeWaits() }
    /// The time at which the timer fires; it may be early, for a wait that has ended.
    private var timerDeadline: CoarseInstant?
    /// The time since which a head, or the client's first SETTINGS, has been incomplete.
    private var insideSince: CoarseInstant?
    /// The time since which there has been no stream.
    private var idleSince: CoarseInstant?
    /// The time since which a request that declares no content has not ended.
    private var unendedSince: CoarseInstant?
    /// The time since which there have been answers that nobody waits for any more and that the client has not taken all of.
    private var untakenSince: CoarseInstant?
    /// The waits of those answers when they were looked at last, with how much it had taken of each.
    private var untakenWaits: [Int32: (sentCount: UInt64, wait: ContentWait)] = [:]
    /// When no more streams are taken, whether the client has answered our PING or not.
    private var shutdownDeadline: CoarseInstant?
    private var isShuttingDown = false
    private var hasShutDown = false

    init(
        _ connection: HTTP2Connection, from peer: PeerAddress, by routing: ListenerRouting<Kinds>,
        timeouts: ServerTimeouts
    ) {
        self.connection = connection
        self.peer = peer
        currentRouting = routing
        self.timeouts = timeouts
        connection.onChange = { [unowned self] in changed() }
    }

    func use(_ limits: HTTP2Limits, _ timeouts: ServerTimeouts) {
        self.timeouts = timeouts
        connection.patience = timeouts.streamIdle
        connection.session.use(limits)
        connection.scheduleSend()
    }

    /// Keeps what was judged of a stream for the next ones, which seldom have another `Host`.
    private func learn(from exchange: Exchange<ServerStream, Kinds>) {
        if currentRouting !== exchange.routing { currentRouting = exchange.routing }
        connectionIsAdmitted = exchange.isClientAdmitted
        if admittedHost != exchange.host { admittedHost = exchange.host }
    }

    func attach(_ seat: StreamSeat<Kinds>) {
        seat.client = self
        seat.position = seating.value.count
        seating.value.append(seat)
    }

    func detach(_ seat: StreamSeat<Kinds>) {
        learn(from: seat.exchange)
        seat.client = nil
        if let last = seating.value.popLast(), last !== seat {
            seating.value[seat.position] = last
            last.position = seat.position
        }
    }

    /// Heeds what has arrived or ended.
    private func changed() {
        let session = connection.session
        // One that has failed waits for nothing more.
        guard session.failure == nil else { return }
        if session.peerIsLeaving, session.streamCount == 0 { beginShutdown(within: .seconds(1)) }
        if isShuttingDown, !hasShutDown, session.pongs > 0 { finishShutdown() }
        let isInside = session.isInsideHead || !session.hasPeerSettings
        insideSince = isInside ? insideSince ?? .now : nil
        unendedSince = connection.unendedSince
        idleSince = session.streamCount == 0 ? idleSince ?? .now : nil
        untakenSince = session.untakenCount == 0 ? nil : untakenSince ?? .now
        setTimerIfEarlier()
    }

    private var headDeadline: CoarseInstant? {
        timeouts.header > .zero ? insideSince.map { $0 + timeouts.header } : nil
    }

    private var idleDeadline: CoarseInstant? {
        timeouts.idle > .zero && !hasShutDown ? idleSince.map { $0 + timeouts.idle } : nil
    }

    private var endDeadline: CoarseInstant? {
        timeouts.header > .zero ? unendedSince.map { $0 + timeouts.header } : nil
    }

    private var untakenDeadline: CoarseInstant? {
        timeouts.streamIdle > .zero ? untakenSince.map { $0 + timeouts.streamIdle } : nil
    }

    private var nextDeadline: CoarseInstant? {
        [headDeadline, idleDeadline, endDeadline, untakenDeadline, hasShutDown ? nil : shutdownDeadline]
            .compactMap { $0 }.min()
    }

    private func setTimerIfEarlier() {
        if let next = nextDeadline, timerDeadline.map({ next < $0 }) ?? true { setTimer(to: next) }
    }

    private func setTimer(to deadline: CoarseInstant) {
        timerDeadline = deadline
        timer.set(after: max(deadline.duration(since: .now), .milliseconds(1)))
    }

    /// Ends what has waited for too long, and sets the timer for what still waits.
    private func judgeWaits() {
        timerDeadline = nil
        guard connection.isOpen, connection.session.failure == nil else { return }
        let now = CoarseInstant.now
        if let headDeadline, headDeadline <= now {
            connection.session.expire()
            return connection.scheduleSend()
        }
        if let idleDeadline, idleDeadline <= now { finishShutdown() }
        if let shutdownDeadline, shutdownDeadline <= now { finishShutdown() }
        if let endDeadline, endDeadline <= now { connection.expireUnended(after: timeouts.header) }
        if let untakenDeadline, untakenDeadline <= now { resetUntaken() }
        if let next = nextDeadline { setTimer(to: next) }
    }

    /// Ends the answers of which the client has taken nothing between two calls.
    private func resetUntaken() {
        untakenSince = .now
        connection.session.resetUntaken(since: &untakenWaits)
        connection.dispatch()
        connection.scheduleSend()
    }

    /// Tells the client that the connection will take no more streams; those on their way are still taken.
    ///
    /// - Parameter patience: how long they are taken of a client that does not answer PING; nil where the caller finishes.
    func beginShutdown(within patience: Duration? = nil) {
        guard !isShuttingDown else { return }
        isShuttingDown = true
        connection.session.announceShutdown()
        connection.scheduleSend()
        guard let patience else { return }
        shutdownDeadline = .now + patience
        setTimerIfEarlier()
    }

    /// Takes no more streams; the connection ends with those that there are.
    func finishShutdown() {
        guard !hasShutDown else { return }
        isShuttingDown = true
        hasShutDown = true
        connection.session.shutDown()
        connection.scheduleSend()
    }
}
