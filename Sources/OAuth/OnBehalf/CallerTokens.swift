// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Synchronization

/// The access tokens of callers, by digests of the callers' own tokens, and the refusals; for any thread.
package final class CallerTokens: Sendable {
    /// The result of a caller's last exchange.
    package enum Known: Sendable {
        case token(AccessTokenSnapshot)
        /// The authorization server would not exchange it.
        case refused
    }

    private struct Entry {
        let known: Known
        /// The listing of the caller's own token.
        var listing: SecretListing?
        /// The earlier end of the two tokens.
        var end: Instant
        /// A 401 causes no further exchange before this moment; nil if there was none.
        var holdOff: Instant?
    }

    /// Separate tables, so that made-up tokens that are refused push out no good ones.
    private struct Tables {
        var granted = BoundedDictionary<CallerToken.Digest, Entry>()
        var refused = BoundedDictionary<CallerToken.Digest, Entry>()
    }

    /// The least time between two exchanges of a token that was refused, or that has expired by its own `exp`.
    private static let leastPause: Duration = .seconds(5)

    private let tables = Mutex(Tables())

    /// The result of a caller's last exchange, if it is still valid.
    package func known(_ digest: CallerToken.Digest, at now: Instant) -> Known? {
        tables.withLock { tables in
            if let entry = tables.granted[digest], now < entry.end { return entry.known }
            guard let entry = tables.refused[digest], now < entry.end else { return nil }
            return entry.known
        }
    }

    /// Keeps the token of an exchange; `end` is the end of the caller's own token, nil if it is not known.
    func keep(
        _ token: AccessTokenSnapshot, for digest: CallerToken.Digest, _ listing: SecretListing? = nil,
        until end: Instant?, at now: Instant
    ) {
        // An end in the past is wrong: the provider has just accepted the token.
        let own = end.map { now < $0 ? $0 : now + Self.leastPause } ?? token.expiry
        let end = min(token.expiry, own)
        guard now < end else { return }
        tables.withLock {
            let entry = Entry(
                known: .token(token), listing: listing, end: end, holdOff: $0.granted[digest]?.holdOff)
            $0.granted.keep(entry, for: digest) { $0.end <= now }
        }
    }

    /// Returns true if the caller's token was exchanged before.
    func hasServed(_ digest: CallerToken.Digest) -> Bool {
        tables.withLock { $0.granted[digest] != nil }
    }

    /// Keeps the authorization server's refusal of a caller's token.
    func refuse(_ digest: CallerToken.Digest, at now: Instant) {
        tables.withLock {
            $0.refused.keep(Entry(known: .refused, end: now + Self.leastPause), for: digest) { $0.end <= now }
        }
    }

    /// Drops a token that the resource server refused.
    ///
    /// - Returns: true if another exchange may help: the first time, and then once in each hold-off.
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

    /// Forgets all tokens and refusals.
    func removeAll() { tables.withLock { $0 = Tables() } }
}
