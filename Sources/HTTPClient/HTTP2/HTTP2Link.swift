// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTP2
internal import BearerdHTTP2Streams
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages

/// One HTTP/2 connection to an upstream, which many exchanges share.
///
/// Confined to its loop's thread.
final class HTTP2Link {
    let connection: HTTP2Connection
    /// The scheme in the targets of all requests on this connection.
    let scheme: HTTPURL.Scheme
    let createdAt = CoarseInstant.now
    /// When its last exchange ended.
    private(set) var idleSince = CoarseInstant.now
    /// The exchanges that it carries.
    private(set) var activeCount = 0
    private var hasBegun = false
    private var isShutDown = false
    /// True while it carries one exchange that shares it with no other.
    private(set) var isReserved = false
    /// Which of our certificates of the route it was made with (``OwnCertificate/version``).
    let certificateVersion: Int
    private var hasToldVerdict = false
    /// How many more requests may be ended early, and when that was judged last.
    private var cancellations = (left: HTTP2Link.cancellationLimit, at: CoarseInstant.now)
    /// Owns the socket.
    private let carrier: UpstreamConnection
    private let changes: LoopWait
    private var liveness = LinkLiveness()
    /// How often ``liveness`` is judged while there are requests.
    private let pulse: Duration
    /// True while the timer is set.
    private var isWatched = false
    /// How many bytes had come when the upstream was found not to answer a PING; nil if it never was.
    private var doubtedAt: UInt64?
    /// True once it has ended for that.
    private(set) var endedMute = false
    private lazy var timer = LoopTimer(loop: connection.loop) { [unowned self] in  // `self` owns the timer
        isWatched = false
        judgeLiveness()
    }

    /// Streams at once beyond which another connection is made, whatever the peer allows: when their client goes, all of them
    /// are cancelled, beside those of ``cancellationLimit``.
    private static let streamLimit = 50
    /// Requests ended early at once, and one a second more, beyond which a connection takes no others: servers that guard
    /// against rapid resets (CVE-2023-44487) end one after some 100, with all that it carries.
    private static let cancellationLimit = 50
    /// How long an upstream may take nothing of what all streams send.
    private static let sendTimeout = Duration.seconds(300)

    /// - Parameters:
    ///   - pool: of streams.
    ///   - pulse: how often it is judged whether the connection still leads to the upstream.
    ///   - onNews: called when something has come or ended.
    ///   - onEnd: called when the connection is over.
    init(
        over carrier: UpstreamConnection, scheme: HTTPURL.Scheme, limits: HeadLimits, loop: EventLoop,
        pool: StreamPool = StreamPool(atMost: 0), pulse: Duration, onNews: @escaping () -> Void = {},
        onEnd: @escaping (HTTP2Link) -> Void
    ) throws(UpstreamError) {
        guard let session = HTTP2Session(.client, limits: HTTP2Limits(head: limits), pool: pool) else {
            throw .other(reason: "no memory is left")
        }
        self.carrier = carrier
        certificateVersion = carrier.certificateVersion
        self.scheme = scheme
        self.pulse = pulse
        changes = LoopWait(loop: loop)
        connection = HTTP2Connection(carrier.stream, session, on: loop, patience: Self.sendTimeout)
        connection.onChange = { [unowned changes] in
            changes.wake()
            onNews()
        }
        _ = loop.startTask { [self] in
            await connection.run()
            changes.wake()
            onEnd(self)
        }
    }

    /// Ends a connection whose TLS is too weak for HTTP/2, and tells the upstream so (RFC 9113 §9.2.2).
    static func refuse(_ carrier: UpstreamConnection) async {
        defer { carrier.close() }
        guard let session = HTTP2Session(.client, limits: HTTP2Limits()) else { return }
        session.fail(.inadequateSecurity)
        try? await carrier.stream.write(session.output, within: .seconds(1))
        await carrier.stream.endSending(within: .seconds(1))
    }

    /// Waits until the upstream has shown that it speaks HTTP/2: its SETTINGS come first (RFC 9113 §3.4).
    ///
    /// - Parameter timeout: zero waits for ever.
    func awaitSettings(within timeout: Duration) async throws(UpstreamError) {
        let deadline = CoarseInstant.after(timeout)
        while !connection.session.hasPeerSettings {
            let seen = changes.news
            guard connection.isOpen, connection.session.failure == nil else {
                let isOfTLS = scheme == .https && connection.stream.bytesReceived == 0
                connection.close()
                // In TLS 1.3 a server judges our certificate when the handshake is over for us.
                throw isOfTLS ? .tlsHandshake : .otherProtocol
            }
            do {
                try await changes.wait(after: seen, until: deadline)
            } catch {
                connection.close()
                throw .greetingTimeout(of: .http2)
            }
        }
    }

    /// True if it takes more requests, now or when others are over.
    var isUsable: Bool { isKept && !isMute }

    /// ``isUsable``, or would be if the upstream were not mute.
    var isKept: Bool {
        guard !isShutDown, connection.isOpen, !connection.peerHasEnded else { return false }
        let session = connection.session
        return session.failure == nil && session.goaway == nil && !session.isOver
    }

    /// True if it takes one more request now.
    var hasRoom: Bool { hasPlace && !isMute }

    /// ``hasRoom``, or would have it if the upstream were not mute.
    var hasPlace: Bool {
        isKept && !isReserved && activeCount < min(connection.session.peerStreamLimit, Self.streamLimit)
    }

    /// True if the upstream's kernel has acknowledged what it has room for; a system call.
    var isAcknowledged: Bool { !connection.stream.awaitsAcknowledgement }

    /// True if the upstream takes no more content on it for now, of whichever request (RFC 9113 §5.2).
    var isShut: Bool { connection.session.connectionWindow <= 0 }

    /// True if the upstream wants HTTP/1.1 of all requests (GOAWAY with HTTP_1_1_REQUIRED).
    var wantsOtherProtocol: Bool { connection.session.goaway?.code == .http11Required }

    /// - Returns: ``wantsOtherProtocol``, and false from the next call on: its end may come much later.
    func takeVerdict() -> Bool {
        guard !hasToldVerdict, wantsOtherProtocol else { return false }
        hasToldVerdict = true
        return true
    }

    /// True if it carries nothing, and something has come from the upstream that nobody has read, its end perhaps; a system
    /// call.
    var isUnread: Bool { activeCount == 0 && carrier.stream.hasArrivals }

    /// True if the upstream has said that it takes no head as large as that (RFC 9113 §6.5.2).
    func refusesHead(of size: Int) -> Bool { size > connection.session.peerHeadLimit }

    /// Lets the connection read what has come: its task has a turn before ours goes on.
    func read() async { await carrier.stream.yield() }

    /// True if the upstream has not answered a PING for a while, and nothing else has come since.
    private var isMute: Bool {
        guard let doubtedAt else { return false }
        return connection.stream.bytesReceived == doubtedAt
    }

    /// One more exchange.
    func begin(with permit: UpstreamPermit) -> HTTP2Exchange {
        defer { hasBegun = true }
        activeCount += 1
        watch()
        return HTTP2Exchange(on: self, isFirst: !hasBegun, permit: permit)
    }

    /// One more exchange, in the memory of one that is over.
    ///
    /// - Parameter permit: nil if it has its place already.
    func begin(_ vacant: HTTP2Exchange, with permit: UpstreamPermit?) {
        activeCount += 1
        watch()
        vacant.begin(on: self, isFirst: !hasBegun, permit: permit)
        hasBegun = true
    }

    /// Carries no exchange but the one that it carries, until that is over.
    func reserve() { isReserved = true }

    /// The upstream sees that a request was ended before its response was.
    func cancelled() {
        let now = CoarseInstant.now
        let earned = Int(now.duration(since: cancellations.at).components.seconds)
        if earned > 0 {
            cancellations = (min(cancellations.left + earned, Self.cancellationLimit), now)
        }
        cancellations.left -= 1
        if cancellations.left <= 0 { shutDown() }
    }

    /// An exchange is over.
    func ended() {
        activeCount -= 1
        isReserved = false
        idleSince = .now
        if activeCount == 0, isMute { shutDown() }
    }

    /// Takes no more requests, and ends with the last of those that it carries.
    func shutDown() {
        guard !isShutDown else { return }
        isShutDown = true
        guard connection.isOpen else { return }
        connection.session.shutDown()
        connection.scheduleSend()
    }

    // MARK: Liveness

    private func watch() {
        liveness.hasNewRequest = true
        guard !isWatched else { return }
        isWatched = true
        if liveness.resume(sight) { ping() }
        timer.set(after: pulse)
    }

    /// Asks the upstream by PING if it is there: a request found no room because of others that are still unanswered.
    func heedVainRequest() {
        guard isWatched, !liveness.hasNewRequest, isKept else { return }
        if liveness.heed(sight) { ping() }
    }

    private func judgeLiveness() {
        guard connection.isOpen else { return }
        switch liveness.tick(sight) {
        case .goOn: break
        case .ping: ping()
        case .doubt:
            doubtedAt = connection.stream.bytesReceived
            if activeCount == 0 { return shutDown() }
            connection.onChange()
        case .end:
            endedMute = true
            return connection.close()
        case .rest: return
        }
        isWatched = true
        timer.set(after: pulse)
    }

    private func ping() {
        connection.session.ping()
        connection.scheduleSend()
    }

    private var sight: LinkLiveness.Sight {
        let stream = connection.stream
        return LinkLiveness.Sight(
            received: stream.bytesReceived, messageFrames: connection.session.messageFrames,
            sent: stream.bytesSent, untaken: max(0, stream.untakenCount),
            awaitsAcknowledgement: stream.awaitsAcknowledgement, isBusy: activeCount > 0)
    }
}
