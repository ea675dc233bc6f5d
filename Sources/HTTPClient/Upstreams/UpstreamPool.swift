// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTPExchange
package import BearerdHTTPMessages

/// One worker's connections to one route's upstream: those that are idle, and the way to more.
///
/// Confined to its loop's thread. A request that finds an idle connection costs no system call and no allocation here.
package final class UpstreamPool: ExchangePool {
    /// How long a connection may be used; zero is for ever.
    package struct Lifetimes: Hashable, Sendable {
        /// Since it became idle.
        package var idle: Duration
        /// Since it was opened, so that changed addresses are seen; of a name's addresses too.
        package var age: Duration
        /// Since it became idle, for a request that may not be sent twice.
        package var idleForUnrepeatable: Duration

        package init(
            idle: Duration = .seconds(30), age: Duration = .seconds(600),
            idleForUnrepeatable: Duration = .seconds(4)
        ) {
            self.idle = idle
            self.age = age
            self.idleForUnrepeatable = idleForUnrepeatable
        }
    }

    /// Idle connections, the one that became so last at the end.
    private var idle: [UpstreamConnection] = []
    /// The connections that are being made.
    private var connectingCount = 0
    /// The connections that carry an exchange.
    private var activeCount = 0
    /// Connections put aside for a waiter, by its number.
    private var reserved: [UInt64: UpstreamConnection] = [:]
    private var patience = UpstreamPatience()
    private var isClosed = false
    private var isTimerSet = false

    /// Lets go of what is only kept for later, by this pool and others; no descriptor is left.
    package var onShortage: () -> Void = {}

    private let connector: UpstreamConnector
    private let limit: UpstreamLimit
    private let lifetimes: Lifetimes
    private let loop: EventLoop
    private lazy var timer = LoopTimer(loop: loop) { [unowned self] in  // the timer goes with us
        isTimerSet = false
        expire()
    }

    /// - Parameters:
    ///   - limit: shared with the other workers' pools for this route.
    ///   - headLimits: of answers.
    ///   - multis: of the loop that this pool belongs to.
    package init(
        address: UpstreamAddress, limit: UpstreamLimit, lifetimes: Lifetimes = Lifetimes(),
        headLimits: HeadLimits = HeadLimits(), multis: CurlMultiSet
    ) {
        connector = UpstreamConnector(
            address: address, multis: multis, nameAge: lifetimes.age, headLimits: headLimits)
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

    /// The connection that became idle last, if it can still be used.
    ///
    /// - Parameters:
    ///   - form: of no account here, because every HTTP/1.1 connection can carry every request.
    ///   - mayRepeat: whether the request may be sent once more, should the upstream have closed meanwhile.
    package func take(for form: RequestForm = RequestForm(), mayRepeat: Bool) -> UpstreamConnection? {
        guard mayRepeat else { return takeForUnrepeatable() }
        while let connection = idle.last {
            if claim(connection, at: .now, if: { $0.isQuiet }) { return connection }
        }
        return nil
    }

    /// A connection of which there is no reason to think that the upstream closes it just now.
    private func takeForUnrepeatable() -> UpstreamConnection? {
        let now = CoarseInstant.now
        if let oldest = idle.first, !oldest.stream.readiness.peerHasEnded {
            patience.sawLife(after: now.duration(since: oldest.idleSince))
        }
        let learned = patience.limit(at: now)
        while let connection = idle.last {
            let announced = connection.announcedPatience.map { UpstreamPatience.limit(announced: $0) }
            let limits = [learned, announced].compactMap(\.self)
            let idleTime = now.duration(since: connection.idleSince)
            guard limits.allSatisfy({ idleTime < $0 }),
                !isOver(lifetimes.idleForUnrepeatable, since: connection.idleSince, at: now)
            else {
                // Where none is used again there is one more with each request.
                if learned == .zero, idle.count > Self.spares { drop(idle.removeFirst()) }
                return nil
            }
            if claim(connection, at: now, if: { $0.isQuietNow }) { return connection }
        }
        return nil
    }

    /// Takes the last of the idle connections out, for a request or to be closed.
    ///
    /// - Returns: whether it can be used.
    @inline(__always)
    private func claim(
        _ connection: UpstreamConnection, at now: CoarseInstant, if isQuiet: (UpstreamConnection) -> Bool
    ) -> Bool {
        idle.removeLast()
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

    /// How many idle connections to an upstream that closes at once are kept, for requests that may be repeated and to
    /// see whether it still does.
    private static let spares = 8

    package func heedEnd(of connection: UpstreamConnection, at instant: CoarseInstant) {
        patience.sawEnd(
            after: instant.duration(since: connection.idleSince), requestsServed: connection.requestsServed,
            at: .now)
    }

    /// A connection that no request has used before, or, when the limit is reached, one that comes free.
    ///
    /// - Parameters:
    ///   - form: of no account here, because every HTTP/1.1 connection can carry every request.
    ///   - timeout: of the wait for a free place, and of the connecting; zero waits for ever.
    ///   - held: a place that the caller has taken already.
    /// - Throws: ``UpstreamError/busy`` when no place comes free in time.
    package func open(
        for form: RequestForm = RequestForm(), within timeout: Duration, in held: UpstreamPermit? = nil
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
        connection.permit = permit
        // Weak and unowned: the connection holds the closure.
        connection.stream.readiness.onEdge = { [weak self, unowned connection] in
            if connection.isIdle { self?.idleConnectionChanged(connection) }
        }
        activeCount += 1
        return connection
    }

    package typealias Place = UpstreamPermit

    package func takePlace() -> UpstreamPermit? { limit.permitNow() }

    /// How long a connection that found no descriptor, or no thread, waits for one before it looks again.
    private static let shortagePause = Duration.milliseconds(50)

    /// Connects; where no descriptor or thread is left it lets go of what is idle, and waits for those that are in use.
    private func connect(within timeout: Duration) async throws(UpstreamError) -> UpstreamConnection {
        let start = ContinuousClock.now
        connectingCount += 1
        defer { connectingCount -= 1 }
        while true {
            let remaining =
                timeout > .zero ? max(timeout - start.duration(to: .now), .milliseconds(1)) : .zero
            do {
                return try await connector.connect(within: remaining)
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

    /// Takes back a connection whose response has been read to its end, and whose upstream will serve another.
    package func giveBack(_ connection: UpstreamConnection) {
        activeCount -= 1
        let now = CoarseInstant.now
        guard !isClosed, !isSpent(connection, at: now), !connection.stream.readiness.peerHasEnded else {
            if connection.stream.readiness.peerHasEnded {
                patience.sawEnd(after: .zero, requestsServed: connection.requestsServed + 1, at: now)
            }
            return drop(connection)
        }
        if limit.isAwaited {
            // Who waits may not be able to repeat its request.
            if patience.limit(at: now) == .zero { return drop(connection) }
            switch limit.next(for: ObjectIdentifier(self)) {
            case .nobody: break
            case .another: return drop(connection)
            case .own(let waiter):
                connection.becomeIdle(at: now)
                connection.becomeBusy()
                reserved[waiter.number] = connection
                return waiter.continuation.resume(returning: .reserved)
            }
        }
        connection.becomeIdle(at: now)
        idle.append(connection)
        setTimer(at: now)
    }

    package func discard(_ connection: UpstreamConnection) {
        activeCount -= 1
        drop(connection)
    }

    private func drop(_ connection: UpstreamConnection) { connection.close() }

    /// Whether more than half of the places are taken, by all workers.
    package var isCrowded: Bool { limit.openCount > limit.maximum / 2 }

    /// Closes what is idle, and everything that is given back from here on.
    package func close() {
        isClosed = true
        timer.cancel()
        closeIdle { _ in true }
    }

    /// Closes what is idle, here and on the other loops: descriptors are the whole process's.
    package func closeIdleEverywhere() { limit.closeIdle() }

    // MARK: Waiting for a place

    private enum Admission {
        case permit(UpstreamPermit)
        case connection(UpstreamConnection)
    }

    /// - Parameter isolation: the caller's, which is to be the loop's.
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

    /// Closes idle connections, the oldest first, for those who wait.
    private func surrender() {
        while limit.isAwaited, !idle.isEmpty { drop(idle.removeFirst()) }
    }

    // MARK: Idle connections

    private func idleConnectionChanged(_ connection: UpstreamConnection) {
        guard !connection.isQuiet, let index = idle.firstIndex(where: { $0 === connection }) else { return }
        heedEnd(of: connection, at: .now)
        drop(idle.remove(at: index))
    }

    /// Whether the connection has reached its age, or has been idle too long.
    private func isSpent(_ connection: UpstreamConnection, at now: CoarseInstant) -> Bool {
        isOver(lifetimes.age, since: connection.createdAt, at: now)
            || (connection.isIdle && isOver(lifetimes.idle, since: connection.idleSince, at: now))
    }

    private func isOver(_ limit: Duration, since start: CoarseInstant, at now: CoarseInstant) -> Bool {
        limit > .zero && now.duration(since: start) >= limit
    }

    private func expire() {
        let now = CoarseInstant.now
        closeIdle { isSpent($0, at: now) }
        setTimer(at: now)
    }

    private func closeIdle(where isUnwanted: (UpstreamConnection) -> Bool) {
        let unwanted = idle.filter(isUnwanted)
        idle.removeAll(where: isUnwanted)
        unwanted.forEach { drop($0) }
    }

    /// One timer for all: set when there is something idle, and left alone while requests come and go.
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
