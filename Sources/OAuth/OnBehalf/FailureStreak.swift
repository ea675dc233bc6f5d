// SPDX-License-Identifier: Apache-2.0

/// The failures of several callers' exchanges with no success between them.
struct FailureStreak<Member: Hashable & Sendable>: Sendable {
    /// At most one exchange begins in this time while a streak is shared: the provider is in trouble, or somebody makes
    /// up tokens that trouble it, and who has not been tried yet must not pay for that.
    private static var pace: Duration { .milliseconds(20) }

    private let first: Member
    /// Whether others than the first have failed too: what one fails alone may be its own doing.
    private(set) var isShared = false
    private(set) var kind: TokenFailure.Kind
    /// How many callers failed, those together counting as one: the step of the back-off.
    private(set) var count = 0
    /// How many exchanges failed, those together counting as one.
    private(set) var steps = 0
    /// Who has failed before waits until then.
    private(set) var retry: Instant
    private var last: Instant?
    private var begun: Instant?

    init(_ member: Member, _ kind: TokenFailure.Kind, at now: Instant) {
        first = member
        self.kind = kind
        retry = now
    }

    /// An exchange failed that was begun at `begun`.
    ///
    /// - Parameter isNews: whether it is the caller's first failure of its kind; a caller that fails again and again makes
    ///   nobody else wait longer.
    mutating func failed(
        _ failure: TokenFailure, by member: Member, isNews: Bool, begunAt begun: Instant, at now: Instant,
        jitter: Double
    ) {
        // What was asked before the last failure was known fails together with it.
        let isTogether = last.map { begun < $0 } ?? false
        if failure.kind != kind { (kind, count, retry) = (failure.kind, 0, now) }
        if isNews, !isTogether { count += 1 }
        count = min(max(count, 1), 1000)
        if !isTogether { steps = min(steps + 1, 1000) }
        if member != first { isShared = true }
        retry = max(retry, now + failure.wait(after: count, jitter: jitter))
        last = now
    }

    /// When the next exchange may begin; nil for at once.
    var next: Instant? { isShared ? begun.map { $0 + Self.pace } : nil }

    /// An exchange begins.
    mutating func began(at now: Instant) { begun = now }
}

extension TokenFailure {
    /// How long exchanges wait after the `count`th in a row.
    func wait(after count: Int, jitter: Double) -> Duration {
        let backOff: BackOff = kind == .misconfigured ? .misconfigured : .transient
        return max(backOff.delay(after: count, jitter: jitter), retryAfter ?? .zero)
    }
}
