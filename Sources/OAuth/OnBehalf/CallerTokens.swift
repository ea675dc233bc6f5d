// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The access tokens that callers' own tokens were exchanged for (RFC 8693), and the refusals, for as long as they hold.
///
/// Any thread may look, with one lock and no hop. A caller is known by a digest of its token, which is kept nowhere.
package final class CallerTokens: Sendable {
    /// What a caller's token is good for.
    package enum Known: Sendable {
        case token(AccessTokenSnapshot)
        /// The provider would not exchange it.
        case refused
    }

    /// What is known of callers, none of whom it keeps longer than it holds.
    private struct Table {
        struct Entry {
            let known: Known
            /// Neither the one token nor the other is over before.
            let end: Instant
            let since: Instant
            /// Counts on: the smallest is the oldest.
            let number: Int
        }

        private var entries: [CallerToken.Digest: Entry] = [:]
        private var count = 0

        subscript(digest: CallerToken.Digest) -> Entry? { entries[digest] }

        mutating func remove(_ digest: CallerToken.Digest) { entries[digest] = nil }

        mutating func keep(
            _ known: Known, for digest: CallerToken.Digest, until end: Instant, at now: Instant
        ) {
            guard now < end else { return }
            if entries[digest] == nil, entries.count >= CallerTokens.most { makeRoom(at: now) }
            count += 1
            entries[digest] = Entry(known: known, end: end, since: now, number: count)
        }

        private mutating func makeRoom(at now: Instant) {
            entries = entries.filter { now < $0.value.end }
            guard entries.count > CallerTokens.most - CallerTokens.share else { return }
            let oldest = entries.values.map(\.number).sorted()[CallerTokens.share - 1]
            entries = entries.filter { $0.value.number > oldest }
        }
    }

    /// Apart, because anybody can make up tokens that are refused: they must push out nobody's that is good.
    private struct Tables {
        var granted = Table()
        var refused = Table()
    }

    /// More callers than that push the oldest out.
    private static let most = 10_000
    /// How many go at once, so that looking for the oldest is done seldom.
    private static let share = most / 20
    /// The provider is not asked about a caller again sooner than that who was refused, or whose token says of itself that
    /// it is over: whoever repeats it would have the provider asked each time.
    private static let leastPause: Duration = .seconds(5)
    /// A token that the resource server refuses is not exchanged anew sooner.
    private static let leastAge: Duration = .seconds(10)

    private let tables = Mutex(Tables())

    /// What is known of a caller.
    package func known(_ digest: CallerToken.Digest, at now: Instant) -> Known? {
        tables.withLock { tables in
            if let entry = tables.granted[digest], now < entry.end { return entry.known }
            guard let entry = tables.refused[digest], now < entry.end else { return nil }
            return entry.known
        }
    }

    /// The caller's token was exchanged for `token`; it is over at `end` itself, if that is known.
    func keep(
        _ token: AccessTokenSnapshot, for digest: CallerToken.Digest, until end: Instant?, at now: Instant
    ) {
        // The provider, which has just taken it, knows better.
        let own = end.map { now < $0 ? $0 : now + Self.leastPause } ?? token.expiry
        tables.withLock {
            $0.granted.keep(.token(token), for: digest, until: min(token.expiry, own), at: now)
        }
    }

    /// The provider refused the caller's token.
    func refuse(_ digest: CallerToken.Digest, at now: Instant) {
        tables.withLock { $0.refused.keep(.refused, for: digest, until: now + Self.leastPause, at: now) }
    }

    /// The resource server refused the token of a caller.
    ///
    /// - Returns: whether it is worth another exchange: not where this token came of one just now.
    package func drop(_ token: AccessTokenSnapshot, of digest: CallerToken.Digest, at now: Instant) -> Bool {
        tables.withLock { tables in
            guard let entry = tables.granted[digest], case .token(let known) = entry.known, known === token
            else {
                return true  // another request has had it exchanged anew
            }
            guard now - entry.since >= Self.leastAge else { return false }
            tables.granted.remove(digest)
            return true
        }
    }

    /// Every caller's token is exchanged anew.
    func removeAll() { tables.withLock { $0 = Tables() } }
}
