// SPDX-License-Identifier: Apache-2.0

internal import BearerdObservability
internal import Synchronization

/// What the log says of one route's upstream: that it fails, once a second at most, and that it works again.
///
/// The workers share it. An answer costs one atomic load here, unless the last line said that the upstream fails.
final class UpstreamReport: Sendable {
    private let log: Log?
    private let throttle = LineThrottle()
    private let hasWarned = Atomic(false)
    /// Why a request failed that the log tells of.
    private let lastReason = Mutex("")

    /// - Parameter log: nil says nothing.
    init(of route: String, at place: String, log: Log?) {
        self.log = log?.with(.route, .string(route)).with(.upstream, .string(place))
    }

    /// Whether ``answered()`` has something to say.
    var isFailing: Bool { hasWarned.load(ordering: .relaxed) }

    /// Why requests fail; nil while they do not.
    var trouble: String? { isFailing ? lastReason.withLock { $0 } : nil }

    /// Says that a request failed, unless that was said within the last second.
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

    /// Says that the upstream works again, if the last line was that it fails.
    func answered() {
        guard hasWarned.exchange(false, ordering: .relaxed) else { return }
        log?.notice("the upstream works again", [.leftOut: .integer(throttle.takeLeftOut())])
    }
}
