// SPDX-License-Identifier: Apache-2.0

/// For which callers the provider had no good answer, and when it is asked about them again.
///
/// What fails for a caller again and again may be that caller's doing: it backs off by itself, and does not make the
/// others wait longer each time.
struct CallerFailures {
    /// A failure that is said to be the identity's, and not the caller's.
    private struct Entry {
        let kind: TokenFailure.Kind
        let count: Int
        let retry: Instant
    }

    /// Of more it does not know that they have failed before.
    private static let most = 1000

    private var entries: [CallerToken.Digest: Entry] = [:]
    /// When the last failure came.
    private var last: Instant?

    /// Why a caller's token is not exchanged now; nil if it may be.
    func barrier(to digest: CallerToken.Digest, at now: Instant) -> TokenError? {
        guard let entry = entries[digest], now < entry.retry else { return nil }
        let delay = max(.seconds(1), entry.retry - now)
        return entry.kind == .misconfigured
            ? .misconfigured(retryAfter: delay) : .unavailable(retryAfter: delay)
    }

    /// An exchange failed that was begun at `begun`.
    ///
    /// - Returns: whether that is news: not of a caller for whom it fails again and again, nor of one who asked before
    ///   the last failure was known.
    mutating func failed(
        _ failure: TokenFailure, for digest: CallerToken.Digest, begunAt begun: Instant, at now: Instant,
        jitter: Double
    ) -> Bool {
        let previous = entries[digest].flatMap { $0.kind == failure.kind ? $0 : nil }
        let isNews = previous == nil && last.map { $0 <= begun } ?? true
        last = now
        let count = min((previous?.count ?? 0) + 1, 1000)
        if entries.count >= Self.most, entries[digest] == nil {
            entries = entries.filter { now < $0.value.retry }
            guard entries.count < Self.most else { return isNews }
        }
        entries[digest] = Entry(
            kind: failure.kind, count: count,
            retry: now
                + max(failure.backOff.delay(after: count, jitter: jitter), failure.retryAfter ?? .zero))
        return isNews
    }

    /// The provider had a good answer for a caller.
    mutating func succeeded(for digest: CallerToken.Digest) { entries[digest] = nil }
}

extension TokenFailure {
    /// How exchanges wait after it.
    var backOff: BackOff { kind == .misconfigured ? .misconfigured : .transient }
}
