// SPDX-License-Identifier: Apache-2.0

import Cryptography
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
        /// That of the caller's own token.
        var listing: SecretListing?
        /// Neither the one token nor the other is over before.
        var end: Instant
        /// No other 401 has the caller's token exchanged anew before; nil after none.
        var holdOff: Instant?
    }

    /// Apart, because anybody can make up tokens that are refused: they must push out nobody's that is good.
    private struct Tables {
        var granted = RecentTable<CallerToken.Digest, Entry>()
        var refused = RecentTable<CallerToken.Digest, Entry>()
    }

    /// The provider is not asked about a caller again sooner than that who was refused, or whose token says of itself that
    /// it is over: whoever repeats it would have the provider asked each time.
    private static let leastPause: Duration = .seconds(5)

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
        _ token: AccessTokenSnapshot, for digest: CallerToken.Digest, _ listing: SecretListing? = nil,
        until end: Instant?, at now: Instant
    ) {
        // The provider, which has just taken it, knows better.
        let own = end.map { now < $0 ? $0 : now + Self.leastPause } ?? token.expiry
        let end = min(token.expiry, own)
        guard now < end else { return }
        tables.withLock {
            let entry = Entry(
                known: .token(token), listing: listing, end: end, holdOff: $0.granted[digest]?.holdOff)
            $0.granted.keep(entry, for: digest) { $0.end <= now }
        }
    }

    /// Whether the caller's token was exchanged before, whatever became of that since.
    func hasServed(_ digest: CallerToken.Digest) -> Bool {
        tables.withLock { $0.granted[digest] != nil }
    }

    /// The provider refused the caller's token.
    func refuse(_ digest: CallerToken.Digest, at now: Instant) {
        tables.withLock {
            $0.refused.keep(Entry(known: .refused, end: now + Self.leastPause), for: digest) { $0.end <= now }
        }
    }

    /// The resource server refused the token of a caller.
    ///
    /// - Returns: whether it is worth another exchange: the first time, whatever the token's age, and then once in a while
    ///   for each caller.
    package func drop(_ token: AccessTokenSnapshot, of digest: CallerToken.Digest, at now: Instant) -> Bool {
        tables.withLock { tables in
            guard var entry = tables.granted[digest], now < entry.end, case .token(let known) = entry.known,
                known === token
            else {
                return true  // another request has it exchanged anew
            }
            if let holdOff = entry.holdOff, now < holdOff { return false }
            entry.end = now
            entry.holdOff = now + BackOff.holdOff.first
            tables.granted.keep(entry, for: digest) { $0.end <= now }
            return true
        }
    }

    /// Every caller's token is exchanged anew.
    func removeAll() { tables.withLock { $0 = Tables() } }
}
