// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdObservability
internal import Synchronization

/// Judges by the last minute's answers to clients whether a route fails, and tells the log once when that begins and
/// once when it ends.
///
/// All workers share it. Each counts for itself in ``RecentAnswers``; only a failed answer comes here.
///
/// | answers of the last minute | it begins when | it ends when |
/// |---|---|---|
/// | ten and more | half of them failed | less than a quarter failed |
/// | three to nine | all of them failed | less than a quarter failed |
/// | one and two | – | less than a quarter failed |
/// | none | – | at once |
final class RouteJudge: Sendable {
    private static let enough = 10
    private static let fewest = 3
    /// A route with more answers a minute is judged once in ``pause``, because reading every worker's counts costs more
    /// than the failed answer itself.
    private static let many = 1000
    private static let pause = Duration.milliseconds(100)

    private struct State {
        var shares: [RecentAnswers] = []
        var isFailing = false
        /// True once no request will come by the route any more.
        var isRetired = false
        var latest: AnswerFailure?
        var count = RecentAnswers.Count()
        var nextJudgement: CoarseInstant?
    }

    private let log: Log?
    private let onFailing: (@Sendable () -> Void)?
    private let state = Mutex(State())
    /// The second of the latest failure whose words were kept: one in a second is.
    private let noted = Atomic<UInt32>(0)

    /// - Parameters:
    ///   - log: nil says nothing.
    ///   - onFailing: called on a worker's thread when the route begins to fail; ``judge(at:)`` is needed each second
    ///     from then on, for as long as it returns true.
    init(log: Log?, onFailing: (@Sendable () -> Void)? = nil) {
        self.log = log
        self.onFailing = onFailing
    }

    /// The counts of one more worker.
    func makeShare() -> RecentAnswers {
        let share = RecentAnswers()
        state.withLock { $0.shares.append(share) }
        return share
    }

    /// True if the words of a failure are to be kept, which is so once a second.
    func wantsWords(at second: UInt32) -> Bool {
        noted.exchange(second, ordering: .relaxed) != second
    }

    /// Keeps the words of a failure.
    func note(_ failure: AnswerFailure) { state.withLock { $0.latest = failure } }

    /// Judges the route after a failed answer that was counted.
    func failed(at second: UInt32 = CoarseInstant.second, _ moment: CoarseInstant = .now) {
        let hasBegun = state.withLock { state in
            guard !state.isFailing, state.nextJudgement.map({ $0 <= moment }) ?? true else { return false }
            judge(&state, at: second)
            state.nextJudgement = state.count.answers > Self.many ? moment + Self.pause : nil
            return state.isFailing
        }
        if hasBegun { onFailing?() }
    }

    /// Judges the route at a moment without an answer.
    ///
    /// - Returns: true if it fails.
    @discardableResult
    func judge(at second: UInt32 = CoarseInstant.second) -> Bool {
        let (was, isFailing) = state.withLock { state in
            let was = state.isFailing
            judge(&state, at: second)
            return (was, state.isFailing)
        }
        if isFailing, !was { onFailing?() }
        return isFailing
    }

    /// The upstream's state as of a moment.
    ///
    /// - Parameter trouble: why the latest request brought no whole answer; nil if it did.
    func health(_ trouble: String?, at second: UInt32 = CoarseInstant.second) -> UpstreamHealth {
        let isFailing = judge(at: second)
        return state.withLock { state in
            if isFailing {
                return .fails(Self.words(state.count, state.latest), refusal: state.latest?.challenge)
            }
            if let trouble { return .falters(trouble) }
            return state.shares.contains(where: \.hasHeard) ? .answers : .unknown
        }
    }

    /// Ends the judgement of a route that a reload took away, or whose upstream is another one.
    func retire() {
        state.withLock { state in
            state.isRetired = true
            guard state.isFailing else { return }
            state.isFailing = false
            tellEnd("a reload has taken the route away, or changed its upstream")
        }
    }

    private func judge(_ state: inout State, at second: UInt32) {
        guard !state.isRetired else { return }
        let count = state.shares.reduce(into: RecentAnswers.Count()) { total, share in
            let count = share.count(at: second)
            total.answers += count.answers
            total.failures += count.failures
        }
        state.count = count
        if !state.isFailing {
            let begins =
                count.answers >= Self.enough
                ? count.failures * 2 >= count.answers
                : count.failures >= Self.fewest && count.failures == count.answers
            guard begins else { return }
            state.isFailing = true
            let log = log.map { log in state.latest?.described(in: log) ?? log }
            log?.warning("the route fails", [.reason: .string(Self.words(count, state.latest))])
        } else if count.failures * 4 < count.answers || count.answers == 0 {
            state.isFailing = false
            tellEnd(
                count.answers == 0
                    ? "no answer in the last minute"
                    : "\(count.failures) of \(count.answers) answers in the last minute failed")
        }
    }

    private func tellEnd(_ reason: String) {
        log?.notice("the route fails no more", [.reason: .string(reason)])
    }

    private static func words(_ count: RecentAnswers.Count, _ latest: AnswerFailure?) -> String {
        "\(count.failures) of \(count.answers) answers in the last minute failed"
            + (latest.map { ", lately with \($0.words)" } ?? "")
    }
}
