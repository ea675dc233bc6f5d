// SPDX-License-Identifier: Apache-2.0

/// A session whose login asked for another scope than is configured by now: a refresh brings what the login was
/// granted (RFC 6749 §6), so that only another login brings what is configured.
package struct ScopeChange: Equatable, Sendable {
    /// The scope that the login asked for.
    package let asked: [String]
    /// The scope that it would ask for today.
    package let configured: [String]

    /// The granted scope plays no part, because a server may grant less than it is asked for; the order says nothing.
    ///
    /// - Parameters:
    ///   - session: as it is stored.
    ///   - client: as configured.
    /// - Returns: nil if both are the same, nobody knows what was asked for, the login had a scope of its own, or each
    ///   refresh asks for less by itself.
    package init?(of session: StoredSession, for client: ClientConfiguration) {
        guard client.grantType.needsPerson, !client.isForRoute, let asked = session.loginScope,
            !session.isLoginScopeOwn, session.refreshToken != nil || !session.accessTokens.isEmpty,
            session.belongs(to: client)
        else { return nil }
        self.asked = asked
        configured = client.loginScope
        let (before, now) = (Set(asked), Set(configured))
        if now == before || client.sendsScopeOnRefresh && now.isSubset(of: before) { return nil }
    }

    /// For people.
    package var sentence: String {
        "somebody logged in with the scope '\(asked.joined(separator: " "))'; "
            + "the one configured now, '\(configured.joined(separator: " "))', counts with the next login"
    }
}
