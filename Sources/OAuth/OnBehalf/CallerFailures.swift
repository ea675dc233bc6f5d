// SPDX-License-Identifier: Apache-2.0

/// Failed exchanges, and when each caller is tried again.
///
/// A caller backs off alone at first. The failed callers of a group back off together if different ones failed without a
/// success in between, and those of all groups if different groups did. A caller that has not failed is tried once, at a
/// pace that an authorization server in trouble can bear.
struct CallerFailures {
    private struct Entry {
        let kind: TokenFailure.Kind
        let count: Int
        let retry: Instant
    }

    private var callers = BoundedDictionary<CallerToken.Digest, Entry>()
    private var groups = BoundedDictionary<CallerGroup, FailureStreak<CallerToken.Digest>>()
    private var all: FailureStreak<CallerGroup>?

    /// The error for a caller that has to wait; nil if its token may be exchanged now.
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

    /// When the next exchange of a group may begin; nil for now.
    func next(in group: CallerGroup) -> Instant? {
        let common = group == .served ? nil : all?.next
        guard let own = groups[group]?.next else { return common }
        return common.map { max($0, own) } ?? own
    }

    /// Takes note of the begin of an exchange.
    mutating func began(in group: CallerGroup, at now: Instant) {
        if var streak = groups[group] {
            streak.began(at: now)
            groups.keep(streak, for: group) { $0.retry <= now }
        }
        if group != .served { all?.began(at: now) }
    }

    /// Takes note of a failed exchange.
    ///
    /// - Returns: when failed callers are tried again, if the failure concerns more than one caller; nil otherwise.
    mutating func failed(
        _ failure: TokenFailure, for digest: CallerToken.Digest, in group: CallerGroup,
        begunAt begun: Instant, at moment: Moment
    ) -> Instant? {
        let now = moment.now
        let previous = callers[digest].flatMap { $0.kind == failure.kind ? $0 : nil }
        let count = min((previous?.count ?? 0) + 1, 1000)
        callers.keep(
            Entry(
                kind: failure.kind, count: count,
                retry: now + failure.wait(after: count, jitter: moment.jitter)),
            for: digest
        ) { $0.retry <= now }
        let isNews = previous == nil
        var streak = groups[group] ?? FailureStreak(digest, failure.kind, at: now)
        streak.failed(failure, by: digest, isNews: isNews, begunAt: begun, at: moment)
        groups.keep(streak, for: group) { $0.retry <= now }
        var all = self.all ?? FailureStreak(group, failure.kind, at: now)
        all.failed(failure, by: group, isNews: isNews, begunAt: begun, at: moment)
        self.all = all
        return streak.isShared || all.isShared || all.steps >= Self.worthTelling
            ? max(streak.retry, all.retry) : nil
    }

    /// After this many failures without a success a single caller's count as the identity's: it may be the only one.
    private static let worthTelling = 3

    /// Takes note of a success.
    mutating func succeeded(for digest: CallerToken.Digest, in groups: [CallerGroup]) {
        callers.remove(digest)
        for group in groups { self.groups.remove(group) }
        all = nil
    }

    /// Takes note that the authorization server refused a caller's token, and so is at work; misconfiguration may still be
    /// there.
    mutating func refused(_ digest: CallerToken.Digest, in group: CallerGroup) {
        callers.remove(digest)
        if groups[group]?.kind == .transient { groups.remove(group) }
        if all?.kind == .transient { all = nil }
    }
}
