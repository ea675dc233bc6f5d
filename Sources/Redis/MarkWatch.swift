// SPDX-License-Identifier: Apache-2.0

/// The time for which another daemon's mark has been seen; a mark says that its daemon has sent a refresh token whose
/// outcome only that daemon knows.
///
/// Only time counts in which the server was read again and again and could be written to: a daemon that lives would
/// have renewed the lock or stored the outcome.
struct MarkWatch {
    typealias Instant = ContinuousClock.Instant

    private let mark: String
    private let begin: Instant
    private let last: Instant

    /// Notes that `mark` is there at `moment`.
    ///
    /// - Parameters:
    ///   - before: the watch after the look before.
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
