// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import OAuth

/// A session that somebody is about to replace, for a word to them before that.
struct ReplacedSession: Sendable {
    let identity: String
    private let person: String?
    /// The refresh token, which an import may bring once more.
    private let refreshToken: Secret?
    /// A digest of the refresh token that it was imported with.
    private let importedToken: String?
    /// True if an import of this token is refused.
    private let isKeptFrom: @Sendable (Secret) -> Bool

    /// The issuer and client that it belongs to, where that is not the configured one.
    let others: String?

    /// - Returns: nil for a stored session that holds nothing of use.
    init?(_ stored: StoredSession, configured: ClientConfiguration) {
        guard stored.refreshToken != nil || stored.newestAccessToken != nil, stored.refusal == nil else {
            return nil
        }
        identity = stored.identity
        person = stored.person.flatMap { $0.email ?? $0.id }
        refreshToken = stored.refreshToken
        importedToken = stored.importedToken
        isKeptFrom = { stored.isEndangered(by: $0) }
        others = stored.belongs(to: configured) ? nil : stored.binding
    }

    /// - Returns: nil for an identity of which a daemon has no session.
    init?(_ status: SessionStatus) {
        guard status.state == .authorized || status.state == .refreshing else { return nil }
        identity = status.name
        person = status.personName
        refreshToken = nil
        importedToken = nil
        isKeptFrom = { _ in false }
        others = nil
    }

    /// Returns true if an import of this refresh token leaves the session as it is: it has it, began with it, or would be
    /// lost by it.
    func outlasts(_ token: Secret) -> Bool {
        token.matches(refreshToken) || importedToken == token.digest || isKeptFrom(token)
    }

    /// The warning; it names the person only to a person, because output is often kept.
    var words: String {
        let whose = LoginWait.isWatched ? person.map { " of \($0.prefix(200))" } ?? "" : ""
        let client = others.map { ", which is another client_id's or issuer's: '\($0)'" } ?? ""
        return "\(identity): this replaces the session\(whose) that is there\(client)"
    }
}
