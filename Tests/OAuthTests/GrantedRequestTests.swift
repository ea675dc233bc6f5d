// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// Refresh tokens of grants that need no person, and what they were granted for.
struct `A refresh token that a service has` {
    /// Runs an identity with the store of the one before, and lets it renew its token once.
    private func renew(_ audience: String, after other: SessionHarness?) async throws -> SessionHarness {
        let harness = SessionHarness(sharing: other) { $0.audience = [audience] }
        try await harness.run { await harness.pass(.seconds(240)) }
        return harness
    }

    @Test func `refreshes what it was granted for, and nothing else, after the configuration went back too`()
        async throws
    {
        let first = try await renew("one", after: nil)
        #expect(first.server.bodies.count == 2 && first.server.bodies[1].contains("refresh_token=rt1"))
        let second = try await renew("two", after: first)
        #expect(second.server.bodies.count == 4 && second.server.bodies[3].contains("refresh_token=rt3"))
        let back = try await renew("one", after: second)
        let later = back.server.bodies.dropFirst(4)
        #expect(later.first?.contains("grant_type=client_credentials") == true, "\(later)")
        #expect(later.first?.contains("audience=one") == true)
    }

    @Test func `is not the one that a person brought, whom the identity was before`() async throws {
        let harness = SessionHarness()
        var imported = harness.stored(1, refreshToken: "persons")
        imported.importedToken = Secret("persons").digest
        harness.store.replace(with: imported)
        try await harness.run {
            #expect(harness.server.bodies.count == 1)
            #expect(harness.server.bodies.first?.contains("grant_type=client_credentials") == true)
        }
    }
}
