// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import Configuration
import OAuth
import System

/// What is known of an identity's session without asking the provider: from the store, else from the daemon.
struct ExaminedSession {
    /// Of the newest access token; nil if there is none.
    var expiresAt: WallTime?
    /// Of the same one, when it came.
    var lifetime: Duration?
    /// nil where only the daemon knows.
    var hasRefreshToken: Bool? = false
    var scope: [String] = []
    /// Why there will be no token, in a sentence; nil where there may be one.
    var lastError: String?

    /// - Returns: nil if neither a store nor a daemon has it.
    /// - Throws: why the store cannot be read.
    init?(of identity: ExaminedIdentity, _ patient: Patient) async throws(CommandFailure) {
        guard let directory = patient.configuration.store.directory else {
            let status = await patient.daemonStatus()
            guard let known = status?.identities.first(where: { $0.name == identity.name }) else {
                return nil
            }
            expiresAt = known.expiresAt
            hasRefreshToken = nil
            scope = known.scope
            lastError = known.state == .authorized ? nil : known.lastError?.sentence
            return
        }
        // Opening a store makes its directory.
        guard case _? = try? FileSystem.status(of: directory) else { return }
        let engine = try Engine(forCommandOn: patient.configuration, loop: patient.loop)
        do throws(StoreError) {
            guard let stored = try await engine.store.load(identity.name) else { return }
            let token = stored.accessTokens.max { $0.generation < $1.generation }
            expiresAt = token?.expiresAt
            lifetime = token?.lifetime
            hasRefreshToken = stored.refreshToken != nil
            scope = stored.scope
            lastError = stored.refusal.map {
                "the provider refused to go on with the session: \($0.rawValue)"
            }
        } catch {
            throw CommandFailure(.inputOutput, "the store: \(error.reason)")
        }
    }
}
