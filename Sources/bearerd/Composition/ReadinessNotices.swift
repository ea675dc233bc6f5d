// SPDX-License-Identifier: Apache-2.0

import AdminAPI

/// What the log was told of `/readyz`, and whether somebody is finding out what to tell it next.
struct ReadinessNotices {
    /// A change of `/readyz`.
    enum Notice: Equatable {
        /// It answers 200.
        case ready
        /// It does not any more, for these reasons.
        case notReady(String)
    }

    private var isReady = false
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

    /// What to tell of what was found.
    mutating func found(_ report: ReadinessReport) -> Notice? {
        guard report.isReady != isReady else { return nil }
        isReady = report.isReady
        return isReady ? .ready : .notReady(report.reasons.map(\.words).joined(separator: ", "))
    }

    /// - Returns: whether that was the last look; else something changed meanwhile.
    mutating func end() -> Bool {
        defer { isStale = false }
        isLooking = isStale
        return !isLooking
    }
}
