// SPDX-License-Identifier: Apache-2.0

internal import BearerdObservability
internal import Synchronization

/// Logs that a route's upstream fails, at most once a second, and that it works again.
///
/// All workers share it. A response costs one atomic load here, unless a failure was logged last.
final class UpstreamReport: Sendable {
    private let log: Log?
    private let throttle = LineThrottle()
    private let hasWarned = Atomic(false)
    /// The reason in the last warning.
    private let lastReason = Mutex("")

    /// - Parameter log: nil says nothing.
    init(of route: String, at place: String, log: Log?) {
        self.log = log?.with(.route, .string(route)).with(.upstream, .string(place))
    }

    /// True if a failure was logged last, so that ``answered()`` has something to log.
    var isFailing: Bool { hasWarned.load(ordering: .relaxed) }

    /// The reason for which requests fail; nil while they do not.
    var trouble: String? { isFailing ? lastReason.withLock { $0 } : nil }

    /// Logs a failed request, unless a failure was logged within the last second.
    func failed(_ failure: UpstreamFailure) {
        guard let leftOut = throttle.pass() else { return }
        lastReason.withLock { $0 = failure.reason }
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

    /// Logs that the upstream works again, if a failure was logged last.
    func answered() {
        guard hasWarned.exchange(false, ordering: .relaxed) else { return }
        log?.notice("the upstream works again", [.leftOut: .integer(throttle.takeLeftOut())])
    }
}
