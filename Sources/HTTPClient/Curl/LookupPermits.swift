// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTPExchange

/// Permits a few connection attempts at a time to resolve an upstream's name; once its addresses are known
/// they serve all attempts for a while.
///
/// A lookup is a thread that lives until the name servers answer. Without permits, silent name servers would
/// cost a thread for each waiting request. Waiting attempts share the failure of those that resolve. If a
/// connection to an address fails, one attempt resolves the name again, but not within a second of the last
/// answer, so that a storm of failing connections is no storm of lookups.
///
/// Lookups come in rounds, and libcurl remembers a round's addresses. A new round begins when no lookup runs,
/// or when the addresses of this round have failed: a new attempt must not be given those again, even if
/// lookups of this round still run. Results of an old round affect nothing. Confined to its loop's thread.
package final class LookupPermits {
    /// A permit to connect.
    package enum Permit: Equatable, Sendable {
        /// The attempt resolves the name; ``found(in:)`` reports the answer.
        case lookup(round: Int)
        /// The attempt uses the known addresses.
        case knownAddresses
    }

    private struct Waiter {
        let number: UInt64
        let continuation: UnsafeContinuation<Result<Permit, UpstreamError>, Never>
    }

    private static let mostLookups = 8
    private static let longestMemory = Duration.seconds(60)
    /// The time after an answer in which the addresses are not doubted, and a missing name is not resolved
    /// again.
    private static let pause = Duration.seconds(1)
    /// The time after which the resolver gives up on silent name servers, approximately.
    private static let lifeOfLookup = Duration.seconds(5)

    private let loop: EventLoop
    /// How long known addresses are used.
    private let memory: Duration
    private var foundAt: CoarseInstant?
    /// When the name was last found to have no address.
    private var missedAt: CoarseInstant?
    private var isDoubted = false
    /// Running lookups of all rounds.
    private var lookupCount = 0
    /// Lookups of the current round for which an attempt still waits.
    private var awaitedLookupCount = 0
    /// True if the current round has found addresses.
    private var roundHasFound = false
    private var lastNumber: UInt64 = 0
    private var waiters: [Waiter] = []
    /// The number of the current round; addresses of other rounds must not be used.
    package private(set) var round = 0
    /// How many times addresses were found.
    package private(set) var findings = 0
    /// Timers for lookups whose attempts have been given up, keyed by a number of their own.
    private var abandoned: [UInt64: LoopTimer] = [:]

    /// - Parameter age: the longest use of a name's addresses, at most a minute; zero means a minute.
    package init(loop: EventLoop, age: Duration) {
        self.loop = loop
        memory = age > .zero ? min(age, Self.longestMemory) : Self.longestMemory
    }

    /// True if addresses are known and not doubted.
    package var areKnown: Bool { isRecent(foundAt, within: memory) }

    /// Waits for a permit to connect; the caller returns it with ``end(_:because:)``.
    ///
    /// - Parameters:
    ///   - limit: the longest wait; zero waits for ever.
    ///   - isolation: the caller's actor, which runs on the loop.
    /// - Throws: the failure of the lookup, ``UpstreamError/dnsTimeout`` or ``UpstreamError/cancelled``.
    package func permit(
        within limit: Duration, isolation: isolated (any Actor)? = #isolation
    ) async throws(UpstreamError) -> Permit {
        if let permit = permitNow() { return permit }
        guard !isRecent(missedAt, within: Self.pause) else { throw .dnsError }
        lastNumber += 1
        let number = lastNumber
        let timer = LoopTimer(loop: loop) { [unowned self] in giveUp(number, because: .dnsTimeout) }
        if limit > .zero { timer.set(after: limit) }
        defer { timer.cancel() }
        let reference = LoopReference(self, loop: loop)
        let outcome = await withTaskCancellationHandler { () async -> Result<Permit, UpstreamError> in
            _ = isolation  // as in CurlTransfer.run
            return await withUnsafeContinuation { continuation in
                // A cancellation that came before found nobody; a later one is posted, and comes after this.
                if Task.isCancelled { return continuation.resume(returning: .failure(.cancelled)) }
                // Getting here may have let other jobs run.
                if let permit = permitNow() { return continuation.resume(returning: .success(permit)) }
                waiters.append(Waiter(number: number, continuation: continuation))
            }
        } onCancel: {
            reference.post { $0.giveUp(number, because: .cancelled) }
        }
        return try outcome.get()
    }

    /// Reports that a lookup of `round` found addresses, whether or not they can be connected to.
    package func found(in round: Int) {
        guard round == self.round else { return }
        foundAt = .now
        missedAt = nil
        isDoubted = false
        roundHasFound = true
        findings += 1
        serveAll(with: .success(.knownAddresses))
    }

    /// Reports that an address did not work, so that the name is resolved again.
    package func doubt() {
        guard let foundAt, !isRecent(foundAt, within: Self.pause) else { return }
        self.foundAt = nil
        isDoubted = true
    }

    /// Returns the permit of an attempt that was given up before its lookup ended.
    ///
    /// The lookup goes on, and counts until it has probably ended; otherwise clients that come and go could
    /// cause more lookups than clients that stay.
    package func abandon(_ permit: Permit) {
        guard case .lookup(let round) = permit else { return }
        if round == self.round { awaitedLookupCount -= 1 }
        let number = lastNumber + 1
        lastNumber = number
        let timer = LoopTimer(loop: loop) { [unowned self] in
            abandoned[number] = nil
            lookupCount -= 1
            startLookup()
        }
        abandoned[number] = timer
        timer.set(after: Self.lifeOfLookup)
        startLookup()
    }

    /// Returns a permit.
    ///
    /// - Parameter failure: the reason why there is no connection; nil if there is one.
    package func end(_ permit: Permit, because failure: UpstreamError?) {
        guard case .lookup(let round) = permit else { return connected(because: failure) }
        lookupCount -= 1
        guard round == self.round else { return startLookup() }
        awaitedLookupCount -= 1
        switch failure {
        case .cancelled?, .noDescriptors?, .noThreads?:
            startLookup()
        case .dnsError?, .dnsTimeout?:
            missed(because: failure)
        case let failure?:
            // The name that was not found may be a proxy's.
            if !roundHasFound { serveAll(with: .failure(failure)) }
            doubt()
        case nil:
            if !roundHasFound { found(in: round) }
        }
    }

    /// Judges the known addresses by the outcome of a connection to them.
    private func connected(because failure: UpstreamError?) {
        switch failure {
        case nil, .cancelled?, .noDescriptors?, .noThreads?: break
        case .dnsError?, .dnsTimeout?: missed(because: failure)
        case _?: doubt()
        }
    }

    private func missed(because failure: UpstreamError?) {
        foundAt = nil
        missedAt = failure == .dnsError ? .now : nil
        serveAll(with: .failure(failure ?? .dnsError))
    }

    /// Lets the first waiting attempt resolve the name, if one more lookup is allowed.
    private func startLookup() {
        guard !waiters.isEmpty, let permit = permitNow() else { return }
        serve([waiters.removeFirst()], with: .success(permit))
    }

    private func serveAll(with outcome: Result<Permit, UpstreamError>) {
        let served = waiters
        waiters = []
        serve(served, with: outcome)
    }

    private func serve(_ served: [Waiter], with outcome: Result<Permit, UpstreamError>) {
        for waiter in served { waiter.continuation.resume(returning: outcome) }
    }

    private func permitNow() -> Permit? {
        if areKnown { return .knownAddresses }
        guard lookupCount < Self.mostLookups, !isRecent(missedAt, within: Self.pause) else { return nil }
        if lookupCount == 0 || roundHasFound {
            round += 1
            awaitedLookupCount = 0
            roundHasFound = false
            foundAt = nil
        }
        // After a bad address one lookup serves all, unless its attempt was given up.
        guard !isDoubted || awaitedLookupCount == 0 else { return nil }
        lookupCount += 1
        awaitedLookupCount += 1
        return .lookup(round: round)
    }

    private func isRecent(_ instant: CoarseInstant?, within limit: Duration) -> Bool {
        guard let instant else { return false }
        return CoarseInstant.now.duration(since: instant) < limit
    }

    private func giveUp(_ number: UInt64, because failure: UpstreamError) {
        guard let index = waiters.firstIndex(where: { $0.number == number }) else { return }
        serve([waiters.remove(at: index)], with: .failure(failure))
    }
}
