// SPDX-License-Identifier: Apache-2.0

/// For how long nothing has been heard of a daemon that left its mark: it has sent a refresh token, and only it knows
/// what came of that.
///
/// What counts is the time in which somebody looked again and again at a server that could be written to: there the
/// daemon, if it lives, would have taken the lock anew, or stored what it has.
struct MarkWatch {
    typealias Instant = ContinuousClock.Instant

    private let mark: String
    private let begin: Instant
    private let last: Instant

    /// `mark` is there at `moment`.
    ///
    /// - Parameters:
    ///   - before: what was seen before.
    ///   - gap: the longest time between two looks that counts.
    init(of mark: String, at moment: Instant, after before: MarkWatch?, within gap: Duration) {
        self.mark = mark
        last = moment
        let goesOn = before.map { $0.mark == mark && moment - $0.last <= gap } ?? false
        begin = goesOn ? before?.begin ?? moment : moment
    }

    /// The mark, if it has been there for a whole lease.
    func abandoned(after lease: Duration) -> String? { last - begin >= lease ? mark : nil }
}
