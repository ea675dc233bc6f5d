// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI

/// Decides what the log says about `/readyz`.
///
/// An interruption shorter than ``longestUnlogged`` is not logged.
struct ReadinessNotices {
    /// A change of `/readyz`.
    enum Notice: Equatable {
        /// It answers 200.
        case ready
        /// It no longer answers 200, for these reasons.
        case notReady(String)
    }

    /// How long `/readyz` may answer 503 before that is logged; also the interval between looks meanwhile.
    static let longestUnlogged: Duration = .seconds(1)

    private var isReady = false
    /// When it began to answer 503 after a ``Notice/ready``.
    private var doubtful: ContinuousClock.Instant?
    private var isLooking = false
    private var isStale = false

    /// Notes a change.
    ///
    /// - Returns: true if the caller must look now; false if a running look will be repeated.
    mutating func begin() -> Bool {
        isStale = isLooking
        defer { isLooking = true }
        return !isLooking
    }

    /// Decides what to log about a finding.
    mutating func found(_ report: ReadinessReport, at now: ContinuousClock.Instant) -> Notice? {
        guard !report.isReady else {
            defer { isReady = true }
            doubtful = nil
            return isReady ? nil : .ready
        }
        guard isReady else { return nil }
        doubtful = doubtful ?? now
        guard let since = doubtful, now >= since + Self.longestUnlogged else { return nil }
        isReady = false
        doubtful = nil
        return .notReady(report.reasons.map(\.words).joined(separator: ", "))
    }

    /// - Returns: true if that was the last look; false if something changed meanwhile.
    mutating func end() -> Bool {
        defer { isStale = false }
        isLooking = isStale
        return !isLooking
    }
}
