// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTPExchange
package import BearerdHTTPMessages
internal import BearerdSystem

/// One worker's HTTP/1.1 connections to one route's upstream.
///
/// Confined to its loop's thread. A request that finds an idle connection costs no system call and no
/// allocation here.
package final class UpstreamPool: ExchangePool {
    /// Limits on the use of a connection; zero sets none.
    package struct Lifetimes: Hashable, Sendable {
        /// The longest idle time.
        package var idle: Duration
        /// The longest time since it was opened, so that changed addresses take effect; it limits the use of
        /// a name's addresses too.
        package var age: Duration
        /// The longest idle time for a request that may not be sent twice.
        package var idleForUnrepeatable: Duration
        /// How often a connection of HTTP/2 that carries requests is looked at (``LinkLiveness``).
        package var pulse: Duration

        package init(
            idle: Duration = .seconds(30), age: Duration = .seconds(600),
            idleForUnrepeatable: Duration = .seconds(4), pulse: Duration = .seconds(5)
        ) {
            self.idle = idle
            self.age = age
            self.idleForUnrepeatable = idleForUnrepeatable
            self.pulse = pulse
        }
    }

    /// Idle connections in the order in which they became idle.
    private var idle: [UpstreamConnection] {
        @inline(__always)
        _read { yield resting.value }
        @inline(__always)
        _modify { yield &resting.value }
    }
    private let resting = Exclusive<[UpstreamConnection]>([])
    /// Connections that are being opened.
    private var connectingCount = 0
    /// Connections that carry an exchange.
    private var activeCount = 0
    /// Connections reserved for a waiter, keyed by its number.
    private var reserved: [UInt64: UpstreamConnection] = [:]
    private let learnedKeepAlive = Exclusive(LearnedKeepAlive())
    private var isClosed = false
    private var isTimerSet = false

    package var onShortage: () -> Void = {}

    private let connector: UpstreamConnector
    /// Connections that were made with another pair of its than the one in force are used no more.
    private let certificate: OwnCertificate?
    private let limit: UpstreamLimit
    private let lifetimes: Lifetimes
    private let loop: EventLoop
    private lazy var timer = LoopTimer(loop: loop) { [unowned self] in  // `self` owns the timer
        isTimerSet = false
        expire()
    }

    /// - Parameters:
    ///   - limit: shared with the other workers' pools for this route.
    ///   - headLimits: the limits for the heads of responses.
    ///   - multis: the multi handles of this pool's loop.
    package init(
        address: UpstreamAddress, limit: UpstreamLimit, lifetimes: Lifetimes = Lifetimes(),
        headLimits: HeadLimits = HeadLimits(), multis: CurlMultiSet
    ) {
        connector = UpstreamConnector(
            address: address, multis: multis, nameAge: lifetimes.age, headLimits: headLimits)
        certificate = address.transport.ownCertificate
        self.limit = limit
        self.lifetimes = lifetimes
        loop = multis.loop
        let reference = LoopReference(self, loop: loop)
        limit.join(ObjectIdentifier(self)) { all in
            reference.post { all ? $0.closeIdle { _ in true } : $0.surrender() }
        }
    }

    deinit { limit.leave(ObjectIdentifier(self)) }

    package var connections: UpstreamConnections {
        UpstreamConnections(connecting: connectingCount, active: activeCount, idle: idle.count)
    }

    // MARK: The life of a connection

    /// Takes the connection that became idle last, if one can still be used.
    ///
    /// - Parameters:
    ///   - form: ignored, because every HTTP/1.1 connection can carry every request.
    ///   - mayRepeat: true if the request may be sent again should the upstream have closed the connection
    ///     meanwhile.
    package func take(for form: RequestForm = RequestForm(), mayRepeat: Bool) -> UpstreamConnection? {
        guard mayRepeat else { return takeForUnrepeatable() }
        while let connection = idle.popLast() {
            if accept(connection, at: .now, if: { $0.isQuiet }) { return connection }
        }
        return nil
    }

    /// Takes a connection that the upstream has no apparent reason to close right now.
    private func takeForUnrepeatable() -> UpstreamConnection? {
        let now = CoarseInstant.now
        if learnedKeepAlive.value.knowsEnd, let oldest = idle.first, !oldest.stream.peerHasEnded {
            learnedKeepAlive.value.sawLife(after: now.duration(since: oldest.idleSince))
        }
        let learned = learnedKeepAlive.value.limit(at: now)
        while let connection = idle.last {
            let announced = connection.announcedKeepAlive.map { LearnedKeepAlive.limit(announced: $0) }
            let idleTime = now.duration(since: connection.idleSince)
            guard learned.map({ idleTime < $0 }) ?? true, announced.map({ idleTime < $0 }) ?? true,
                !lifetimes.idleForUnrepeatable.isOver(since: connection.idleSince, at: now)
            else {
                // Where none is used again there is one more with each request.
                if learned == .zero, idle.count > Self.spares { drop(idle.removeFirst()) }
                return nil
            }
            idle.removeLast()
            if accept(connection, at: now, if: { $0.isQuietNow }) { return connection }
        }
        return nil
    }

    /// Takes a connection that was idle for a request, or closes it.
    ///
    /// - Returns: true if it can be used.
    @inline(__always)
    private func accept(
        _ connection: UpstreamConnection, at now: CoarseInstant, if isQuiet: (UpstreamConnection) -> Bool
    ) -> Bool {
        connection.becomeBusy()
        if !isSpent(connection, at: now) {
            if isQuiet(connection) {
                activeCount += 1
                return true
            }
            heedEnd(of: connection, at: now)
        }
        drop(connection)
        return false
    }

    /// The idle connections that are kept to an upstream that closes at once; repeatable requests use them
    /// and show if it still does.
    private static let spares = 8

    package func heedEnd(of connection: UpstreamConnection, at instant: CoarseInstant) {
        learnedKeepAlive.value.sawEnd(
            after: instant.duration(since: connection.idleSince), requestsServed: connection.requestsServed,
            at: .now)
    }

    /// Opens a connection or, at the limit, waits for one that becomes free.
    ///
    /// - Parameters:
    ///   - form: ignored, because every HTTP/1.1 connection can carry every request.
    ///   - timeout: limits the wait for a place plus the time to connect; zero waits for ever.
    ///   - held: a permit that the caller has already taken.
    /// - Throws: ``UpstreamError/busy`` if no place becomes free in time.
    package func open(
        for form: RequestForm = RequestForm(), within timeout: Duration, with held: UpstreamPermit? = nil
    ) async throws(UpstreamError) -> UpstreamConnection {
        let permit: UpstreamPermit
        if let held {
            permit = held
        } else {
            switch try await place(within: timeout) {
            case .connection(let connection):
                activeCount += 1
                return connection
            case .permit(let granted): permit = granted
            }
        }
        let connection = try await connect(within: timeout)
        take(connection, permit)
        activeCount += 1
        return connection
    }

    /// Takes in a connection that carries no request yet.
    private func take(_ connection: UpstreamConnection, _ permit: UpstreamPermit) {
        connection.permit = permit
        // Weak and unowned: the connection holds the closure.
        connection.stream.readiness.onEdge = { [weak self, unowned connection] in
            if connection.isIdle { self?.idleConnectionChanged(connection) }
        }
    }

    /// Keeps a connection that somebody else has made for the next request.
    func adopt(_ connection: UpstreamConnection, _ permit: UpstreamPermit) {
        take(connection, permit)
        activeCount += 1
        giveBack(connection, hasServed: false)
    }

    /// A place that no connection of this pool uses, as soon as one is free.
    ///
    /// - Parameter timeout: of the wait; zero waits for ever.
    func permit(within timeout: Duration) async throws(UpstreamError) -> UpstreamPermit {
        switch try await place(within: timeout) {
        case .permit(let permit): return permit
        case .connection(let connection):
            guard let permit = connection.permit else { throw .busy }
            connection.permit = nil
            connection.close()
            return permit
        }
    }

    package typealias Permit = UpstreamPermit

    package func takePermit() -> UpstreamPermit? { limit.permitNow() }

    /// The pause before another attempt after a shortage of descriptors or threads.
    private static let shortagePause = Duration.milliseconds(50)

    /// Opens a connection; on a shortage of descriptors or threads it closes idle ones and tries again.
    ///
    /// - Parameter onTaken: as for ``UpstreamConnector/connect(within:onTaken:)``.
    func connect(
        within timeout: Duration, onTaken: @escaping () -> Void = {}
    ) async throws(UpstreamError) -> UpstreamConnection {
        let start = ContinuousClock.now
        connectingCount += 1
        defer { connectingCount -= 1 }
        while true {
            let remaining =
                timeout > .zero ? max(timeout - start.duration(to: .now), .milliseconds(1)) : .zero
            do {
                return try await connector.connect(within: remaining, onTaken: onTaken)
            } catch {
                guard error.isShortage, !Task.isCancelled,
                    timeout == .zero || remaining > Self.shortagePause
                else { throw error }
                if error == .noDescriptors { onShortage() }
            }
            await loop.pause(for: Self.shortagePause)
        }
    }

    package func end(_ connection: UpstreamConnection, isRequestWhole: Bool) {
        guard isRequestWhole, connection.isComplete else { return discard(connection) }
        giveBack(connection)
    }

    /// Takes back a connection whose exchange is complete and whose upstream accepts another request.
    package func giveBack(_ connection: UpstreamConnection, hasServed: Bool = true) {
        activeCount -= 1
        let now = CoarseInstant.now
        guard !isClosed, !isSpent(connection, at: now), !connection.stream.peerHasEnded else {
            if connection.stream.peerHasEnded {
                learnedKeepAlive.value.sawEnd(
                    after: .zero, requestsServed: connection.requestsServed + 1, at: now)
            }
            return drop(connection)
        }
        if limit.isShort {
            // A request that waits may not be repeatable, and would take for its own answer what has come behind this one.
            guard learnedKeepAlive.value.limit(at: now) != .zero, connection.isQuietNow else {
                return drop(connection)
            }
            switch limit.next(for: ObjectIdentifier(self)) {
            case .nobody: break
            case .another: return drop(connection)
            case .own(let waiter):
                connection.becomeIdle(at: now, hasServed: hasServed)
                connection.becomeBusy()
                reserved[waiter.number] = connection
                return waiter.continuation.resume(returning: .reserved)
            }
        }
        connection.becomeIdle(at: now, hasServed: hasServed)
        idle.append(connection)
        setTimer(at: now)
    }

    package func discard(_ connection: UpstreamConnection) {
        activeCount -= 1
        drop(connection)
    }

    private func drop(_ connection: UpstreamConnection) { connection.close() }

    package var isCrowded: Bool { limit.isCrowded }

    /// Closes idle connections now, and others when they are given back.
    package func close() {
        isClosed = true
        timer.cancel()
        closeIdle { _ in true }
    }

    /// Closes idle connections of all loops, because the whole process shares its descriptors.
    package func closeIdleEverywhere() { limit.closeIdle() }

    // MARK: Waiting for a place

    private enum Admission {
        case permit(UpstreamPermit)
        case connection(UpstreamConnection)
    }

    /// - Parameter isolation: the caller's actor, which runs on the loop.
    private func place(
        within timeout: Duration, isolation: isolated (any Actor)? = #isolation
    ) async throws(UpstreamError) -> Admission {
        if let permit = limit.permitNow() { return .permit(permit) }
        let number = limit.nextNumber()
        let timer = LoopTimer(loop: loop) { [limit] in limit.abandon(number, with: .timedOut) }
        if timeout > .zero { timer.set(after: timeout) }
        defer { timer.cancel() }
        let pool = ObjectIdentifier(self)
        let grant = await withTaskCancellationHandler {
            _ = isolation  // as in CurlTransfer.run
            return await withUnsafeContinuation { continuation in
                limit.enqueue(UpstreamLimit.Waiter(number: number, pool: pool, continuation: continuation))
                // A cancellation that came before had nothing to abandon.
                if Task.isCancelled { limit.abandon(number, with: .cancelled) }
            }
        } onCancel: { [limit] in
            limit.abandon(number, with: .cancelled)
        }
        switch grant {
        case .permit: return .permit(UpstreamPermit(limit))
        case .reserved:
            guard let connection = reserved.removeValue(forKey: number) else { throw .busy }
            return .connection(connection)
        case .timedOut: throw .busy
        case .cancelled: throw .cancelled
        }
    }

    /// Closes idle connections, the oldest first, until none is wanted back.
    private func surrender() {
        while limit.isShort, !idle.isEmpty { drop(idle.removeFirst()) }
    }

    // MARK: Idle connections

    private func idleConnectionChanged(_ connection: UpstreamConnection) {
        guard !connection.isQuiet, let index = idle.firstIndex(where: { $0 === connection }) else { return }
        heedEnd(of: connection, at: .now)
        drop(idle.remove(at: index))
    }

    /// True if the connection has reached its age, has been idle too long, or shows a certificate that has been replaced.
    private func isSpent(_ connection: UpstreamConnection, at now: CoarseInstant) -> Bool {
        if let certificate, certificate.version != connection.certificateVersion { return true }
        return lifetimes.age.isOver(since: connection.createdAt, at: now)
            || (connection.isIdle && lifetimes.idle.isOver(since: connection.idleSince, at: now))
    }

    private func expire() {
        let now = CoarseInstant.now
        closeIdle { isSpent($0, at: now) }
        setTimer(at: now)
    }

    private func closeIdle(where isUnwanted: (UpstreamConnection) -> Bool) {
        let all = idle
        idle = []
        for connection in all {
            if isUnwanted(connection) { drop(connection) } else { idle.append(connection) }
        }
    }

    /// Sets the one timer when there are idle connections; it stays set while requests come and go.
    private func setTimer(at now: CoarseInstant) {
        guard !isTimerSet, !isClosed, let oldest = idle.first else { return }
        var delays: [Duration] = []
        if lifetimes.idle > .zero { delays.append(lifetimes.idle - now.duration(since: oldest.idleSince)) }
        if lifetimes.age > .zero {
            let eldest = idle.map { now.duration(since: $0.createdAt) }.max() ?? .zero
            delays.append(lifetimes.age - eldest)
        }
        guard let delay = delays.min() else { return }
        isTimerSet = true
        timer.set(after: max(delay, .milliseconds(1)))
    }
}
