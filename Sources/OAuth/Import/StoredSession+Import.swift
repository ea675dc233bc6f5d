// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
import BearerdJSONText

extension StoredSession {
    /// A session that begins with another program's refresh token.
    ///
    /// - Parameters:
    ///   - client: the client that logs in here.
    ///   - grantClient: the client that the token was issued to; nil if that is `client`.
    ///   - present: the stored session.
    ///   - wall: the civil time.
    /// - Returns: nil if `present` began with this token, or holds it.
    package static func importing(
        _ refreshToken: Secret, idToken: Secret?, scope: [String], for client: ClientConfiguration,
        of grantClient: ClientRegistration? = nil, person: Person? = nil, over present: StoredSession?,
        at wall: WallTime
    ) -> StoredSession? {
        // A client that another server made is none of this one's, though neither was configured.
        let registration = present.flatMap { $0.belongs(to: client) ? $0.registration : nil }
        let client = client.registered(registration).registered(grantClient)
        let digest = refreshToken.digest
        if let present, present.binding.hasSameBytes(as: client.binding), let held = present.refreshToken,
            present.importedToken == digest || refreshToken.matches(held)
        {
            return nil
        }
        var session = StoredSession(
            identity: client.name, generation: (present?.generation ?? 0) + 1, binding: client.binding)
        session.began = present?.successorBegin(at: wall) ?? wall
        session.refreshToken = refreshToken
        session.idToken = idToken
        session.scope = scope
        session.importedToken = digest
        session.earlierImports = present?.refreshToken == nil ? [] : present?.spentImports ?? []
        session.registration = registration
        session.grantClient = grantClient
        session.person = person
        return session
    }
}
