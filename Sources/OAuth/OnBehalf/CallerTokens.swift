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

    private struct Entry {
        let known: Known
        /// Neither the one token nor the other is over before.
        let end: Instant
        let since: Instant
        /// Counts on: the smallest is the oldest.
        let number: Int
    }

    private struct Table {
        var entries: [CallerToken.Digest: Entry] = [:]
        var count = 0
    }

    /// More callers than that push the oldest out.
    private static let most = 10_000
    /// How many go at once, so that looking for the oldest is done seldom.
    private static let share = most / 20
    /// A token that was refused is not asked about again sooner: whoever repeats it would have the provider asked each time.
    private static let refusalLifetime: Duration = .seconds(5)
    /// A token that the resource server refuses is not exchanged anew sooner.
    private static let leastAge: Duration = .seconds(10)

    private let table = Mutex(Table())

    /// What is known of a caller.
    package func known(_ digest: CallerToken.Digest, at now: Instant) -> Known? {
        guard let entry = table.withLock({ $0.entries[digest] }), now < entry.end else { return nil }
        return entry.known
    }

    /// The caller's token was exchanged for `token`; it is over at `end` itself, if that is known.
    func keep(
        _ token: AccessTokenSnapshot, for digest: CallerToken.Digest, until end: Instant?, at now: Instant
    ) {
        keep(.token(token), for: digest, until: min(token.expiry, end ?? token.expiry), at: now)
    }

    /// The provider refused the caller's token.
    func refuse(_ digest: CallerToken.Digest, at now: Instant) {
        keep(.refused, for: digest, until: now + Self.refusalLifetime, at: now)
    }

    /// The resource server refused the token of a caller.
    ///
    /// - Returns: whether it is worth another exchange: not where this token came of one just now.
    package func drop(_ token: AccessTokenSnapshot, of digest: CallerToken.Digest, at now: Instant) -> Bool {
        table.withLock { table in
            guard let entry = table.entries[digest], case .token(let known) = entry.known, known === token
            else {
                return true  // another request has had it exchanged anew
            }
            guard now - entry.since >= Self.leastAge else { return false }
            table.entries[digest] = nil
            return true
        }
    }

    /// Every caller's token is exchanged anew.
    func removeAll() { table.withLock { $0.entries.removeAll() } }

    private func keep(_ known: Known, for digest: CallerToken.Digest, until end: Instant, at now: Instant) {
        guard now < end else { return }
        table.withLock { table in
            if table.entries[digest] == nil, table.entries.count >= Self.most {
                table.entries = table.entries.filter { now < $0.value.end }
                if table.entries.count > Self.most - Self.share {
                    let oldest = table.entries.values.map(\.number).sorted()[Self.share - 1]
                    table.entries = table.entries.filter { $0.value.number > oldest }
                }
            }
            table.count += 1
            table.entries[digest] = Entry(known: known, end: end, since: now, number: table.count)
        }
    }
}
