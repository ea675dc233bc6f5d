// SPDX-License-Identifier: Apache-2.0

/// Consecutive failures of exchanges, of callers or of groups.
struct FailureStreak<Member: Hashable & Sendable>: Sendable {
    /// The least time between two exchanges of callers that have not failed yet, while a streak is shared.
    private static var pace: Duration { .milliseconds(20) }

    private let first: Member
    /// True if others than the first have failed too; one alone may be at fault itself.
    private(set) var isShared = false
    private(set) var kind: TokenFailure.Kind
    /// The step of the back-off: the number of failed callers, concurrent ones counted once.
    private(set) var count = 0
    /// The number of failed exchanges, concurrent ones counted once.
    private(set) var steps = 0
    /// When failed callers are tried again.
    private(set) var retry: Instant
    private var last: Instant?
    private var begun: Instant?

    init(_ member: Member, _ kind: TokenFailure.Kind, at now: Instant) {
        first = member
        self.kind = kind
        retry = now
    }

    /// Takes note of a failed exchange.
    ///
    /// - Parameter isNews: true for the caller's first failure of its kind; repeated failures of one caller do not make
    ///   the others wait longer.
    mutating func failed(
        _ failure: TokenFailure, by member: Member, isNews: Bool, begunAt begun: Instant, at moment: Moment
    ) {
        let now = moment.now
        // An exchange that began before the last failure was known counts with it.
        let isTogether = last.map { begun < $0 } ?? false
        if failure.kind != kind { (kind, count, retry) = (failure.kind, 0, now) }
        if isNews, !isTogether { count += 1 }
        count = min(max(count, 1), 1000)
        if !isTogether { steps = min(steps + 1, 1000) }
        if member != first { isShared = true }
        retry = max(retry, now + failure.wait(after: count, jitter: moment.jitter))
        last = now
    }

    /// When the next exchange may begin; nil for now.
    var next: Instant? { isShared ? begun.map { $0 + Self.pace } : nil }

    /// Takes note of the begin of an exchange.
    mutating func began(at now: Instant) { begun = now }
}

extension TokenFailure {
    /// The back-off after `count` failures in a row.
    func wait(after count: Int, jitter: Double) -> Duration {
        let backOff: BackOff = kind == .misconfigured ? .misconfigured : .transient
        return max(backOff.delay(after: count, jitter: jitter), retryAfter ?? .zero)
    }
}
