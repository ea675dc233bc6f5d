// SPDX-License-Identifier: Apache-2.0

internal import BearerdObservability
internal import Synchronization

/// Logs that a route's upstream fails, at intervals that grow, and that it works again.
///
/// All workers share it. A response costs one atomic load here, unless the request before it failed.
final class UpstreamReport: Sendable {
    private let log: Log?
    private let throttle = OutageThrottle()
    /// True if the latest request failed.
    private let hasFailed = Atomic(false)
    /// True if the last line was about a failure.
    private let hasWarned = Atomic(false)
    /// Why the latest request failed.
    private let lastReason = Mutex("")

    /// - Parameter log: has route and upstream; nil says nothing.
    init(log: Log?) { self.log = log }

    /// True if ``answered()`` has something to take note of.
    var isFailing: Bool { hasFailed.load(ordering: .relaxed) }

    /// Why the latest request failed; nil if it did not.
    var trouble: String? { isFailing ? lastReason.withLock { $0 } : nil }

    /// Takes note that a request failed, and says so unless that was said not long ago.
    func failed(_ failure: UpstreamFailure) {
        lastReason.withLock { $0 = failure.reason }
        hasFailed.store(true, ordering: .relaxed)
        guard let leftOut = throttle.failed() else { return }
        hasWarned.store(true, ordering: .relaxed)
        guard !failure.hint.isEmpty else {
            log?.warning(
                "the upstream fails", [.reason: .string(failure.reason), .leftOut: .integer(leftOut)])
            return
        }
        log?.warning(
            "the upstream fails",
            [
                .reason: .string(failure.reason), .hint: .string(failure.hint), .leftOut: .integer(leftOut),
            ])
    }

    /// Takes note of a response, and logs that the upstream works again if a failure was logged last.
    func answered() {
        guard hasFailed.exchange(false, ordering: .relaxed) else { return }
        guard hasWarned.exchange(false, ordering: .relaxed) else { return throttle.workedAgain() }
        log?.notice("the upstream works again", [.leftOut: .integer(throttle.worked())])
    }
}
