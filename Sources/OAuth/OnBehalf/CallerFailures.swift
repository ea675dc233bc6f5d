// SPDX-License-Identifier: Apache-2.0

/// For whom the provider had no good answer, and when it is asked about them again.
///
/// A caller backs off by itself first. The others of its group wait with it only where different callers of the group
/// failed and none succeeded between, and all groups only where different ones did. Nobody waits who has not failed: it is
/// tried once, in its turn, at a pace that a provider in trouble can bear.
struct CallerFailures {
    /// What failed for one caller.
    private struct Entry {
        let kind: TokenFailure.Kind
        let count: Int
        let retry: Instant
    }

    private var callers = RecentTable<CallerToken.Digest, Entry>()
    private var groups = RecentTable<CallerGroup, FailureStreak<CallerToken.Digest>>()
    private var all: FailureStreak<CallerGroup>?

    /// Why a caller's token is not exchanged now; nil if it may be.
    func barrier(to digest: CallerToken.Digest, in group: CallerGroup, at now: Instant) -> TokenError? {
        guard let own = callers[digest] else { return nil }
        var (kind, retry) = (own.kind, own.retry)
        if let streak = groups[group], streak.isShared, streak.retry > retry {
            (kind, retry) = (streak.kind, streak.retry)
        }
        if let all, all.isShared, group != .served, all.retry > retry {
            (kind, retry) = (all.kind, all.retry)
        }
        guard now < retry else { return nil }
        let delay = max(.seconds(1), retry - now)
        return kind == .misconfigured ? .misconfigured(retryAfter: delay) : .unavailable(retryAfter: delay)
    }

    /// When the next exchange of a group may begin; nil for at once.
    func next(in group: CallerGroup) -> Instant? {
        let common = group == .served ? nil : all?.next
        guard let own = groups[group]?.next else { return common }
        return common.map { max($0, own) } ?? own
    }

    /// An exchange begins.
    mutating func began(in group: CallerGroup, at now: Instant) {
        if var streak = groups[group] {
            streak.began(at: now)
            groups.keep(streak, for: group) { $0.retry <= now }
        }
        if group != .served { all?.began(at: now) }
    }

    /// An exchange failed that was begun at `begun`.
    ///
    /// - Returns: until when all wait who have failed, where that is more than one caller's own affair.
    mutating func failed(
        _ failure: TokenFailure, for digest: CallerToken.Digest, in group: CallerGroup,
        begunAt begun: Instant, at now: Instant, jitter: Double
    ) -> Instant? {
        let previous = callers[digest].flatMap { $0.kind == failure.kind ? $0 : nil }
        let count = min((previous?.count ?? 0) + 1, 1000)
        callers.keep(
            Entry(
                kind: failure.kind, count: count, retry: now + failure.wait(after: count, jitter: jitter)),
            for: digest
        ) { $0.retry <= now }
        let isNews = previous == nil
        var streak = groups[group] ?? FailureStreak(digest, failure.kind, at: now)
        streak.failed(failure, by: digest, isNews: isNews, begunAt: begun, at: now, jitter: jitter)
        groups.keep(streak, for: group) { $0.retry <= now }
        var all = self.all ?? FailureStreak(group, failure.kind, at: now)
        all.failed(failure, by: group, isNews: isNews, begunAt: begun, at: now, jitter: jitter)
        self.all = all
        return streak.isShared || all.isShared || all.steps >= Self.worthTelling
            ? max(streak.retry, all.retry) : nil
    }

    /// So many failures of one caller, with nobody's success between, are told as the identity's: it may be the only one.
    private static let worthTelling = 3

    /// The provider exchanged a caller's token.
    mutating func succeeded(for digest: CallerToken.Digest, in groups: [CallerGroup]) {
        callers.remove(digest)
        for group in groups { self.groups.remove(group) }
        all = nil
    }

    /// The provider refused a caller's token, which it does only when it is of use; what is misconfigured it may not have
    /// come to.
    mutating func refused(_ digest: CallerToken.Digest, in group: CallerGroup) {
        callers.remove(digest)
        if groups[group]?.kind == .transient { groups.remove(group) }
        if all?.kind == .transient { all = nil }
    }
}
