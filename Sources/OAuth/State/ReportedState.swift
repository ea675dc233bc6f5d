// SPDX-License-Identifier: Apache-2.0

/// The state that log and hooks were told last, and what they must not be told yet.
///
/// A change is told at once, unless it goes back to a state that was left less than a second ago: then it is told
/// when that second is over, if it still holds. However often the state flips, each is told at most once a second.
struct ReportedState: Sendable {
    private static let quiet: Duration = .seconds(1)

    /// What was told last.
    private(set) var told: IdentityState
    /// When to look again, because a change is kept back; nil if none is.
    private(set) var due: Instant?
    /// When each state was last left.
    private var left: [IdentityState: Instant] = [:]

    init(_ state: IdentityState) {
        told = state
    }

    /// The state is `present`.
    ///
    /// - Returns: the state that was told before, if it is to be told now.
    mutating func look(_ present: IdentityState, at now: Instant) -> IdentityState? {
        due = nil
        guard present != told else { return nil }
        if let left = left[present], now < left + Self.quiet {
            due = left + Self.quiet
            return nil
        }
        let before = told
        left[before] = now
        told = present
        return before
    }
}
