// SPDX-License-Identifier: Apache-2.0

internal import EventLoop

/// Who may ask for an upstream's name: a few, until one of them has got through, then everybody.
///
/// A lookup is a thread, and it lives for as long as the name servers are silent: without turns a dead one would get a
/// thread for each request that waits. Who waits shares the failure of those who ask. Confined to its loop's thread.
final class LookupTurns {
    /// A permission to connect.
    enum Turn {
        /// One of the few while nobody knows whether the name resolves.
        case scout
        case free
    }

    private struct Waiter {
        let number: UInt64
        let continuation: UnsafeContinuation<Result<Turn, UpstreamError>, Never>
    }

    private static let scouts = 8
    /// libcurl remembers addresses for 60 s.
    private static let memory = Duration.seconds(50)

    private let loop: EventLoop
    private var foundAt: CoarseInstant?
    private var scoutCount = 0
    private var lastNumber: UInt64 = 0
    private var waiters: [Waiter] = []

    init(loop: EventLoop) {
        self.loop = loop
    }

    /// Waits for a turn; the caller gives it back with ``end(_:because:)``.
    ///
    /// - Parameter limit: of the wait; zero waits for ever.
    /// - Throws: what those who asked met, or ``UpstreamError/dnsTimeout``.
    func turn(within limit: Duration) async throws(UpstreamError) -> Turn {
        if let turn = turnNow() { return turn }
        lastNumber += 1
        let number = lastNumber
        let timer = LoopTimer(loop: loop) { [unowned self] in giveUp(number) }
        if limit > .zero { timer.set(after: limit) }
        defer { timer.cancel() }
        let outcome: Result<Turn, UpstreamError> = await withUnsafeContinuation { continuation in
            // Getting here may have let other jobs run.
            if let turn = turnNow() { return continuation.resume(returning: .success(turn)) }
            waiters.append(Waiter(number: number, continuation: continuation))
        }
        return try outcome.get()
    }

    /// Takes a turn back.
    ///
    /// - Parameter failure: why there is no connection; nil if there is one.
    func end(_ turn: Turn, because failure: UpstreamError?) {
        if turn == .scout { scoutCount -= 1 }
        switch failure {
        case .cancelled?, .noDescriptors?:
            if turn == .scout, !waiters.isEmpty { serve([waiters.removeFirst()], with: .success(.scout)) }
        case .dnsError?, .dnsTimeout?:
            foundAt = nil
            serveAll(with: .failure(failure ?? .dnsError))
        default:
            foundAt = .now
            serveAll(with: .success(.free))
        }
    }

    private func serveAll(with outcome: Result<Turn, UpstreamError>) {
        let served = waiters
        waiters = []
        serve(served, with: outcome)
    }

    private func serve(_ served: [Waiter], with outcome: Result<Turn, UpstreamError>) {
        if case .success(.scout) = outcome { scoutCount += served.count }
        for waiter in served { waiter.continuation.resume(returning: outcome) }
    }

    private func turnNow() -> Turn? {
        if let foundAt, CoarseInstant.now.duration(since: foundAt) < Self.memory { return .free }
        guard scoutCount < Self.scouts else { return nil }
        scoutCount += 1
        return .scout
    }

    private func giveUp(_ number: UInt64) {
        guard let index = waiters.firstIndex(where: { $0.number == number }) else { return }
        serve([waiters.remove(at: index)], with: .failure(.dnsTimeout))
    }
}
