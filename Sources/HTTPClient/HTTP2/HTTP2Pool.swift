// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
internal import BearerdHTTP2
internal import BearerdHTTP2Streams
package import BearerdHTTPExchange
package import BearerdHTTPMessages
internal import BearerdSystem

/// One worker's HTTP/2 connections to one route's upstream, each shared by many exchanges.
///
/// `limits.upstream_connections` counts the exchanges. Confined to its loop's thread.
package final class HTTP2Pool: NegotiatingPool {
    package static var sharesConnections: Bool { true }

    private let links = Exclusive<[HTTP2Link]>([])
    /// The connection that is being made; whoever needs one waits for it.
    private var attempt: HTTP2Attempt?
    /// Those who wait until a connection takes one more stream.
    private let queue: RoomQueue
    /// Exchanges that are over, for later ones.
    private let vacant = Exclusive<[HTTP2Exchange]>([])
    private let streams = StreamPool(atMost: HTTP2Pool.vacancies)
    private var isClosed = false
    /// How many requests ask for a connection.
    ///
    /// A closed pool still serves them, because they began before it was closed.
    private var askingCount = 0
    private var isTimerSet = false
    package var onShortage: () -> Void = {} { didSet { maker.onShortage = onShortage } }

    /// Makes connections.
    private let maker: UpstreamPool
    /// Gets the connections on which the upstream has chosen HTTP/1.1; nil where that is no choice.
    private let single: UpstreamPool?
    /// When the upstream last chose HTTP/1.1, or asked for it; nil if it has not.
    private var declinedAt: CoarseInstant?
    /// True if it has asked for it (HTTP_1_1_REQUIRED).
    private var isRequired = false
    /// When it last asked for it of a request that could not be sent again; nil if it has not.
    private var lostAt: CoarseInstant?
    private let address: UpstreamAddress
    private let certificate: OwnCertificate?
    private let limit: UpstreamLimit
    private let lifetimes: UpstreamPool.Lifetimes
    private let headLimits: HeadLimits
    private let loop: EventLoop
    private lazy var timer = LoopTimer(loop: loop) { [unowned self] in  // `self` owns the timer
        isTimerSet = false
        expire()
    }

    /// The most exchanges, and streams, that are kept.
    private static let vacancies = 64
    /// More connections than this are not made for one request: an upstream may give them up at once.
    private static let attemptLimit = 3
    /// After so many readings a link with unread bytes is used all the same.
    private static let lookLimit = 3
    /// How long a choice of HTTP/1.1 holds where connections have no end of their own.
    private static let declineAge = Duration.seconds(600)

    /// - Parameters:
    ///   - limit: shared with the other workers' pools for this route.
    ///   - single: gets the connections on which the upstream has chosen HTTP/1.1.
    package init(
        address: UpstreamAddress, limit: UpstreamLimit, lifetimes: UpstreamPool.Lifetimes,
        headLimits: HeadLimits, multis: CurlMultiSet, single: UpstreamPool? = nil
    ) {
        maker = UpstreamPool(
            address: address, limit: limit, lifetimes: lifetimes, headLimits: headLimits, multis: multis)
        loop = multis.loop
        queue = RoomQueue(on: multis.loop)
        self.address = address
        certificate = address.transport.ownCertificate
        self.limit = limit
        self.lifetimes = lifetimes
        self.headLimits = headLimits
        self.single = single
        let reference = LoopReference(self, loop: multis.loop)
        limit.join(ObjectIdentifier(self)) { all in if all { reference.post { $0.closeIdle() } } }
    }

    deinit { limit.leave(ObjectIdentifier(self)) }

    // MARK: Exchanges

    package func take(for form: RequestForm, mayRepeat: Bool) -> HTTP2Exchange? {
        if let certificate { links.value.end(madeBefore: certificate.version) }
        guard !isDeclined, !form.isHeadLarge, let link = links.value.withRoom(for: form),
            !link.refusesHead(of: form.headSize)
        else { return nil }
        guard mayRepeat || isFresh(link) else { return nil }
        guard let exchange = takeVacant() else { return limit.permitNow().map { link.begin(with: $0) } }
        guard exchange.takePermit() else {
            vacant.value.append(exchange)
            return nil
        }
        link.begin(exchange, with: nil)
        return exchange
    }

    package typealias Permit = UpstreamPermit

    package func takePermit() -> UpstreamPermit? { limit.permitNow() }

    package func open(
        for form: RequestForm, within timeout: Duration, with held: UpstreamPermit?
    ) async throws(UpstreamError) -> HTTP2Exchange {
        askingCount += 1
        defer {
            askingCount -= 1
            if isClosed { endUnasked() }
        }
        let start = ContinuousClock.now
        let permit: UpstreamPermit
        if let held { permit = held } else { permit = try await maker.permit(within: timeout) }
        var (attempts, looks) = (0, 0)
        while true {
            guard !isDeclined else { throw .declined }
            if let link = links.value.withRoom(for: form) {
                guard looks < Self.lookLimit, link.isUnread else {
                    guard !link.refusesHead(of: form.headSize) else {
                        queue.wakeNext()  // it has perhaps woken us
                        throw .headTooLarge
                    }
                    defer { if form.isHeadLarge { link.reserve() } }
                    return begin(on: link, with: permit)
                }
                looks += 1
                await link.read()
                continue
            }
            let rest = timeout > .zero ? timeout - start.duration(to: .now) : .zero
            guard timeout == .zero || rest > .zero else { throw .busy }
            links.value.endShut()
            if links.value.mayGrow(for: form), attempts < Self.attemptLimit {
                do throws(UpstreamError) {
                    guard try await connect(within: rest, ofAttempt: timeout) else { throw .declined }
                } catch {
                    guard let link = links.value.inPlace(of: error, for: form) else { throw error }
                    return begin(on: link, with: permit)
                }
                // A connection that takes requests, or has taken others meanwhile, was not made in vain.
                if !(links.value.last.map { $0.hasRoom || $0.activeCount > 0 } ?? false) { attempts += 1 }
            } else {
                // Each connection is given up as soon as it is there (GOAWAY): none will have room.
                guard links.value.contains(where: \.isUsable) else { throw .otherProtocol }
                try await queue.wait(within: rest)
            }
        }
    }

    /// Says if a request that may not be sent twice can go on a kept connection; one that has been silent for too long ends.
    private func isFresh(_ link: HTTP2Link) -> Bool {
        // Bytes that have arrived may be its GOAWAY: they are read first, by a call that opens a connection.
        guard link.activeCount == 0 else { return true }
        guard lifetimes.idleForUnrepeatable.isOver(since: link.idleSince, at: .now) else {
            return !link.isUnread
        }
        link.shutDown()
        return false
    }

    private func begin(on link: HTTP2Link, with permit: UpstreamPermit) -> HTTP2Exchange {
        guard let exchange = takeVacant() else { return link.begin(with: permit) }
        link.begin(exchange, with: permit)
        return exchange
    }

    /// An exchange that is over, to be used again; nil if there is none.
    private func takeVacant() -> HTTP2Exchange? {
        // Its last user may still hold a reference.
        let last = vacant.value.count - 1
        guard last >= 0, isKnownUniquelyReferenced(&vacant.value[last]) else { return nil }
        return vacant.value.removeLast()
    }

    package func end(_ exchange: HTTP2Exchange, isRequestWhole: Bool) { discard(exchange) }

    package func discard(_ exchange: HTTP2Exchange) {
        if exchange.isUnheard { exchange.link.shutDown() }
        // The link's verdict is read before `conclude` resets the stream.
        heedVerdict(of: exchange.link)
        exchange.conclude()
        let link = exchange.link
        link.ended()
        if vacant.value.count < Self.vacancies, link.isUsable { vacant.value.append(exchange) }
        queue.wakeNext()
        guard link.activeCount == 0 else { return }
        if isClosed { endUnasked() } else { setTimer() }
    }

    package func heedEnd(of exchange: HTTP2Exchange, at instant: CoarseInstant) {}

    /// The upstream may take more streams than before (SETTINGS_MAX_CONCURRENT_STREAMS), or none on a connection that
    /// counted (GOAWAY), so that another one may be made.
    private func heedRoom() {
        guard !queue.isEmpty else { return }
        if links.value.contains(where: \.hasRoom) || links.value.mayGrow(for: RequestForm()) {
            queue.wakeAll()
        }
    }

    // MARK: Connecting

    /// Makes a connection, or waits for the one that is being made.
    ///
    /// - Parameters:
    ///   - timeout: how long the caller waits.
    ///   - limit: how long a new attempt may take: others join it, who have more time than whoever begins it.
    /// - Returns: false if the upstream has chosen HTTP/1.1 on it.
    private func connect(
        within timeout: Duration, ofAttempt limit: Duration
    ) async throws(UpstreamError) -> Bool {
        if attempt == nil { attempt = begin(within: limit) }
        guard let attempt else { return false }
        return try await attempt.outcome(within: timeout, on: loop)
    }

    private func begin(within timeout: Duration) -> HTTP2Attempt {
        let attempt = HTTP2Attempt()
        _ = loop.startTask { [self] in
            do throws(UpstreamError) {
                attempt.end(.success(try await makeLink(within: timeout, for: attempt)))
            } catch {
                attempt.end(.failure(error))
            }
            self.attempt = nil
        }
        return attempt
    }

    private func makeLink(
        within timeout: Duration, for attempt: HTTP2Attempt
    ) async throws(UpstreamError) -> Bool {
        let start = ContinuousClock.now
        let carrier = try await maker.connect(within: timeout) { attempt.awaited = .tls }
        attempt.awaited = .http2
        guard carrier.stream.applicationProtocol != .weakHTTP2 else {
            await HTTP2Link.refuse(carrier)
            guard single != nil else { throw .weakCipher }
            decline(isRequired: false)
            return false
        }
        if address.url.scheme == .https, carrier.stream.applicationProtocol != .http2 {
            guard let single else {
                carrier.close()
                throw .noCommonProtocol
            }
            decline(isRequired: false)
            if let permit = limit.permitNow() { single.adopt(carrier, permit) } else { carrier.close() }
            return false
        }
        // Another connection's news of meanwhile is newer.
        guard !isDeclined else {
            carrier.close()
            return false
        }
        declinedAt = nil
        let link = try HTTP2Link(
            over: carrier, scheme: address.url.scheme == .https ? .https : .http, limits: headLimits,
            loop: loop, pool: streams, pulse: lifetimes.pulse, onNews: { [weak self] in self?.heedRoom() }
        ) { [weak self] in self?.ended($0) }
        let rest = timeout > .zero ? max(timeout - start.duration(to: .now), .milliseconds(1)) : .zero
        try await link.awaitSettings(within: rest)
        heedVerdict(of: link)
        guard !isDeclined else {
            link.shutDown()
            return false
        }
        guard link.connection.isOpen else { throw .otherProtocol }
        links.value.append(link)
        if isClosed { endUnasked() }
        setTimer()
        return true
    }

    private func ended(_ link: HTTP2Link) {
        heedVerdict(of: link)
        links.value.removeAll { $0 === link }
        vacant.value.removeAll { $0.link === link }
        queue.wakeNext()
    }

    /// Where an upstream asks for HTTP/1.1, and there is that choice, nothing more is sent to it over HTTP/2 for a while.
    private func heedVerdict(of link: HTTP2Link) {
        guard single != nil, link.takeVerdict() else { return }
        decline(isRequired: true)
        for link in links.value { link.shutDown() }
        queue.wakeAll()
    }

    private func decline(isRequired: Bool) {
        declinedAt = .now
        self.isRequired = isRequired
    }

    // MARK: Idle connections

    package var connections: UpstreamConnections {
        let idle = links.value.count(where: { $0.activeCount == 0 })
        return UpstreamConnections(
            connecting: attempt == nil ? 0 : 1, active: links.value.count - idle, idle: idle)
    }

    package var isCrowded: Bool { limit.isCrowded }

    package func closeIdleEverywhere() { limit.closeIdle() }

    package func releaseMemory() {
        vacant.value = []
        streams.empty()
    }

    package func close() {
        isClosed = true
        timer.cancel()
        for link in links.value { link.shutDown() }
        maker.close()
        queue.wakeAll()
    }

    /// Ends idle connections of a closed pool, unless somebody is about to use one.
    private func endUnasked() { if askingCount == 0 { closeIdle() } }

    private func closeIdle() {
        for link in links.value where link.activeCount == 0 { link.shutDown() }
    }

    private func expire() {
        let now = CoarseInstant.now
        for link in links.value where link.isUsable {
            let isOld = lifetimes.age.isOver(since: link.createdAt, at: now)
            let isIdle = link.activeCount == 0 && lifetimes.idle.isOver(since: link.idleSince, at: now)
            if isOld || isIdle { link.shutDown() }
        }
        setTimer()
    }

    /// One timer for all connections; it may fire early for some.
    private func setTimer() {
        let delays = [lifetimes.idle, lifetimes.age].filter { $0 > .zero }
        guard !isTimerSet, !isClosed, !links.value.isEmpty, let delay = delays.min() else { return }
        isTimerSet = true
        timer.set(after: max(delay / 2, .milliseconds(1)))
    }
}

/// Choosing between HTTP/2 and HTTP/1.1.
extension HTTP2Pool {
    /// Connects to find out where neither an open connection nor a recent choice of HTTP/1.1 says so.
    package func isChosen(within timeout: Duration) async throws(UpstreamError) -> Bool {
        if hasDeclined { return false }
        if links.value.contains(where: \.isKept) { return true }
        guard address.url.scheme == .https else { return false }
        return try await connect(within: timeout, ofAttempt: timeout)
    }

    private var isDeclined: Bool { single != nil && hasDeclined }

    package var isKnown: Bool {
        address.url.scheme != .https || hasDeclined || links.value.contains(where: \.isKept)
    }

    /// True if the upstream has chosen HTTP/1.1, or asked for it, so lately that it need not be asked again.
    private var hasDeclined: Bool { isRecent(declinedAt) }

    package var isRefused: Bool { isRequired && hasDeclined }

    package var losesRequests: Bool { isRecent(lostAt) }

    package func heedLoss() { if single != nil { lostAt = .now } }

    private func isRecent(_ instant: CoarseInstant?) -> Bool {
        guard let instant else { return false }
        let age = lifetimes.age > .zero ? lifetimes.age : Self.declineAge
        return CoarseInstant.now.duration(since: instant) < age
    }
}
