// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import OAuth

/// The facts about an identity's session that need no request to the provider: from the store, or else from
/// the daemon.
struct ExaminedSession {
    /// The expiry of the newest access token; nil if there is none.
    var expiresAt: WallTime?
    /// The lifetime of the newest access token when it was issued.
    var lifetime: Duration?
    /// nil if only the daemon knows.
    var hasRefreshToken: Bool? = false
    var scope: [String] = []
    /// A sentence with the reason why there will be no token; nil if there may be one.
    var lastError: String?

    /// The code with which the provider refused to go on with the session; nil if it did not.
    var refusal: String?
    /// A sentence if the configured scope differs from that of the login.
    var scopeChange: String?

    /// - Returns: nil if neither a store nor a daemon has the session.
    /// - Throws: the reason why the store cannot be read.
    init?(of identity: ExaminedIdentity, _ subject: DoctorSubject) async throws(CommandFailure) {
        // Another user's store is as much out of sight as a daemon's memory.
        let problem = subject.storeElsewhere ?? subject.configuration.store.strangersProblem
        guard subject.configuration.store.isShared, problem == nil else {
            guard let known = subject.known(of: identity) else {
                if let problem { throw CommandFailure(.permission, problem) }
                return nil
            }
            expiresAt = known.expiresAt
            hasRefreshToken = nil
            scope = known.scope
            lastError = known.state == .authorized ? nil : known.lastError?.sentence
            scopeChange = known.lastError.flatMap {
                $0.code == LastError.scopeChanged ? $0.detail : nil
            }
            return
        }
        guard let stored = try await subject.store.session(of: identity.name) else { return }
        let token = stored.newestAccessToken
        expiresAt = token?.expiresAt
        lifetime = token?.lifetime
        hasRefreshToken = stored.refreshToken != nil
        scope = stored.scope
        scopeChange = ScopeChange(of: stored, for: identity.client)?.sentence
        refusal = stored.refusal?.rawValue
        lastError = stored.refusal.map { "the provider refused to go on with the session: \($0.rawValue)" }
    }
}
