// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTPExchange

/// Who may ask for an upstream's name: a few, until one of them knows its addresses, then nobody for a while, because
/// these serve everybody.
///
/// A lookup is a thread, and it lives for as long as the name servers are silent: without turns a dead one would get a
/// thread for each request that waits. Who waits shares the failure of those who ask. Addresses that cannot be
/// connected to are doubted: then one asks anew, and no sooner than a second after the last answer, so that a storm of
/// failing connects is no storm of lookups.
///
/// Those who ask do so in rounds, and libcurl remembers what was found in one. A new one begins when nobody asks, and
/// when addresses that were found in this one no longer serve: whoever asks then must not be told those again, though
/// lookups of this round may still be under way. What they find or miss counts for nobody else. Confined to its loop's
/// thread.
package final class LookupTurns {
    /// A permission to connect.
    package enum Turn: Equatable, Sendable {
        /// One of the few that ask for the name; ``found(in:)`` says when it is answered.
        case scout(round: Int)
        /// The addresses that were found last serve.
        case free
    }

    private struct Waiter {
        let number: UInt64
        let continuation: UnsafeContinuation<Result<Turn, UpstreamError>, Never>
    }

    private static let scouts = 8
    private static let longestMemory = Duration.seconds(60)
    /// How long an answer is neither doubted nor, if it was that there is no address, asked for again.
    private static let pause = Duration.seconds(1)
    /// As long as name servers may be silent before the resolver gives up, or nearly.
    private static let lifeOfLookup = Duration.seconds(5)

    private let loop: EventLoop
    /// How long what was found serves.
    private let memory: Duration
    private var foundAt: CoarseInstant?
    /// When the name had no address.
    private var missedAt: CoarseInstant?
    private var isDoubted = false
    /// Lookups under way, of every round.
    private var scoutCount = 0
    /// Those of this round that somebody waits for.
    private var askerCount = 0
    /// Whether addresses were found in this round.
    private var roundHasFound = false
    private var lastNumber: UInt64 = 0
    private var waiters: [Waiter] = []
    /// Which round it is: addresses that were found in another are not to be used now.
    package private(set) var round = 0
    /// How often addresses were found.
    package private(set) var findings = 0
    /// For the lookups that nobody waits for any more, by a number of their own.
    private var abandoned: [UInt64: LoopTimer] = [:]

    /// - Parameter age: how long a name's addresses may be used, a minute at most; zero means that minute.
    package init(loop: EventLoop, age: Duration) {
        self.loop = loop
        memory = age > .zero ? min(age, Self.longestMemory) : Self.longestMemory
    }

    /// Whether there are addresses that nobody doubts.
    package var areKnown: Bool { isRecent(foundAt, within: memory) }

    /// Waits for a turn; the caller gives it back with ``end(_:because:)``.
    ///
    /// - Parameters:
    ///   - limit: of the wait; zero waits for ever.
    ///   - isolation: the caller's, which is to be the loop's.
    /// - Throws: what those who asked met, ``UpstreamError/dnsTimeout`` or ``UpstreamError/cancelled``.
    package func turn(
        within limit: Duration, isolation: isolated (any Actor)? = #isolation
    ) async throws(UpstreamError) -> Turn {
        if let turn = turnNow() { return turn }
        guard !isRecent(missedAt, within: Self.pause) else { throw .dnsError }
        lastNumber += 1
        let number = lastNumber
        let timer = LoopTimer(loop: loop) { [unowned self] in giveUp(number, because: .dnsTimeout) }
        if limit > .zero { timer.set(after: limit) }
        defer { timer.cancel() }
        let reference = LoopReference(self, loop: loop)
        let outcome = await withTaskCancellationHandler { () async -> Result<Turn, UpstreamError> in
            _ = isolation  // as in CurlTransfer.run
            return await withUnsafeContinuation { continuation in
                // A cancellation that came before found nobody; a later one is posted, and comes after this.
                if Task.isCancelled { return continuation.resume(returning: .failure(.cancelled)) }
                // Getting here may have let other jobs run.
                if let turn = turnNow() { return continuation.resume(returning: .success(turn)) }
                waiters.append(Waiter(number: number, continuation: continuation))
            }
        } onCancel: {
            reference.post { $0.giveUp(number, because: .cancelled) }
        }
        return try outcome.get()
    }

    /// Says that a scout of a round has the name's addresses, whether or not they can be connected to.
    package func found(in round: Int) {
        guard round == self.round else { return }
        foundAt = .now
        missedAt = nil
        isDoubted = false
        roundHasFound = true
        findings += 1
        serveAll(with: .success(.free))
    }

    /// Says that an address turned out to be bad: the name may have got others.
    package func doubt() {
        guard let foundAt, !isRecent(foundAt, within: Self.pause) else { return }
        self.foundAt = nil
        isDoubted = true
    }

    /// Takes a turn back from somebody who left before the name was found.
    ///
    /// The lookup goes on, and counts until it has probably ended: clients that come and go must not make more of them
    /// than clients that stay.
    package func abandon(_ turn: Turn) {
        guard case .scout(let round) = turn else { return }
        if round == self.round { askerCount -= 1 }
        let number = lastNumber + 1
        lastNumber = number
        let timer = LoopTimer(loop: loop) { [unowned self] in
            abandoned[number] = nil
            scoutCount -= 1
            replaceScout()
        }
        abandoned[number] = timer
        timer.set(after: Self.lifeOfLookup)
        replaceScout()
    }

    /// Takes a turn back.
    ///
    /// - Parameter failure: why there is no connection; nil if there is one.
    package func end(_ turn: Turn, because failure: UpstreamError?) {
        guard case .scout(let round) = turn else { return connected(because: failure) }
        scoutCount -= 1
        guard round == self.round else { return replaceScout() }
        askerCount -= 1
        switch failure {
        case .cancelled?, .noDescriptors?, .noThreads?:
            replaceScout()
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

    /// Heeds what became of a connection to addresses that were known.
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

    /// Has the first of those who wait ask, if somebody more may.
    private func replaceScout() {
        guard !waiters.isEmpty, let turn = turnNow() else { return }
        serve([waiters.removeFirst()], with: .success(turn))
    }

    private func serveAll(with outcome: Result<Turn, UpstreamError>) {
        let served = waiters
        waiters = []
        serve(served, with: outcome)
    }

    private func serve(_ served: [Waiter], with outcome: Result<Turn, UpstreamError>) {
        for waiter in served { waiter.continuation.resume(returning: outcome) }
    }

    private func turnNow() -> Turn? {
        if areKnown { return .free }
        guard scoutCount < Self.scouts, !isRecent(missedAt, within: Self.pause) else { return nil }
        if scoutCount == 0 || roundHasFound {
            round += 1
            askerCount = 0
            roundHasFound = false
            foundAt = nil
        }
        // Where an address was bad one asks for all, unless it has left.
        guard !isDoubted || askerCount == 0 else { return nil }
        scoutCount += 1
        askerCount += 1
        return .scout(round: round)
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
