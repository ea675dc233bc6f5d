// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI

/// What the log was told of `/readyz`, and whether somebody is finding out what to tell it next.
///
/// What lasts less than ``patience`` is told to nobody, as changes of state are.
struct ReadinessNotices {
    /// A change of `/readyz`.
    enum Notice: Equatable {
        /// It answers 200.
        case ready
        /// It does not any more, for these reasons.
        case notReady(String)
    }

    /// How long it may answer 503 before that is told; while it does, it is looked at again after as long.
    static let patience: Duration = .seconds(1)

    private var isReady = false
    /// Since when it has answered 503 after a ``Notice/ready``.
    private var doubtful: ContinuousClock.Instant?
    private var isLooking = false
    private var isStale = false

    /// Something changed.
    ///
    /// - Returns: whether to look now; else who looks already will look again.
    mutating func begin() -> Bool {
        isStale = isLooking
        defer { isLooking = true }
        return !isLooking
    }

    /// What to tell of what was found at a moment.
    mutating func found(_ report: ReadinessReport, at now: ContinuousClock.Instant) -> Notice? {
        guard !report.isReady else {
            defer { isReady = true }
            doubtful = nil
            return isReady ? nil : .ready
        }
        guard isReady else { return nil }
        doubtful = doubtful ?? now
        guard let since = doubtful, now >= since + Self.patience else { return nil }
        isReady = false
        doubtful = nil
        return .notReady(report.reasons.map(\.words).joined(separator: ", "))
    }

    /// - Returns: whether that was the last look; else something changed meanwhile.
    mutating func end() -> Bool {
        defer { isStale = false }
        isLooking = isStale
        return !isLooking
    }
}
