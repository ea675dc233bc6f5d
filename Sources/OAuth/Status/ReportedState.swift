// SPDX-License-Identifier: Apache-2.0

/// The state that log and hooks were told last, and what they must not be told yet.
///
/// A change is told at once, unless it goes back to a state that was left less than a second ago: then it is told once
/// it has held for a second. A state that flips for ever is told when it begins to, and when it has come to rest.
struct ReportedState: Sendable {
    private static let quiet: Duration = .seconds(1)

    /// The state that was told last.
    private(set) var told: SessionState
    /// When to look again, because a change is kept back; nil if none is.
    private(set) var due: Instant?
    private var present: SessionState
    /// When the present state has held for long enough, if it undoes another; nil if it need not.
    private var settled: Instant?
    /// When each state was last left.
    private var left: [SessionState: Instant] = [:]

    init(_ state: SessionState) {
        told = state
        present = state
    }

    /// Takes in the state that is present.
    ///
    /// - Returns: the state that was told before, if it is to be told now.
    mutating func look(_ state: SessionState, at now: Instant) -> SessionState? {
        if state != present {
            let returns = left[state].map { now < $0 + Self.quiet } ?? false
            left[present] = now
            present = state
            settled = returns ? now + Self.quiet : nil
        }
        due = nil
        guard state != told else { return nil }
        if let settled, now < settled {
            due = settled
            return nil
        }
        defer { told = state }
        return told
    }
}
