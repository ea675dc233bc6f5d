// SPDX-License-Identifier: Apache-2.0

package import Cryptography

extension StoredSession {
    /// A session that begins with what another program obtained, and needs a refresh first.
    ///
    /// - Parameters:
    ///   - refreshToken: what it begins with.
    ///   - client: who logs in.
    ///   - grantClient: whose session it is, if that is another client.
    ///   - present: what is stored so far.
    ///   - wall: the civil clock.
    /// - Returns: nil if `present` began with this token, or holds it.
    package static func importing(
        _ refreshToken: Secret, idToken: Secret?, scope: [String], for client: ClientConfiguration,
        of grantClient: ClientRegistration? = nil, person: Person? = nil, over present: StoredSession?,
        at wall: WallTime
    ) -> StoredSession? {
        let client = client.registered(present?.registration).registered(grantClient)
        let bytes = refreshToken.withPlaintext { Array($0.utf8) }
        let digest = Base64URL.encode(SHA256.digest(bytes))
        if let present, present.binding == client.binding, let held = present.refreshToken,
            present.importedToken == digest || held.matches(bytes)
        {
            return nil
        }
        var session = StoredSession(
            identity: client.name, generation: (present?.generation ?? 0) + 1, binding: client.binding)
        session.began = wall
        session.refreshToken = refreshToken
        session.idToken = idToken
        session.scope = scope
        session.importedToken = digest
        session.registration = present?.registration
        session.grantClient = grantClient
        session.person = person
        return session
    }
}
