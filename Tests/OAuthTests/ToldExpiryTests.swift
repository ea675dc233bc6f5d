// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OAuth

/// What is told of a token's expiry, which a clock judges that nobody sets.
struct `The expiry of a token that is told` {
    @Test(arguments: [Duration.seconds(3600), .seconds(-3600), .seconds(1)])
    func `leaves as much as there is left, also where the civil clock was set since`(
        step: Duration
    ) async throws {
        let harness = SessionHarness()
        try await harness.run {
            await harness.pass(.seconds(100))
            let before = try #require(await harness.session.status.expiresAt)
            #expect(before - harness.clock.wallNow == .seconds(200))
            harness.clock.setWall(ahead: step)
            let status = await harness.session.status
            #expect(status.state == .authorized && harness.token == "at1")
            let left = try #require(status.expiresAt) - harness.clock.wallNow
            if step == .seconds(1) {
                #expect(status.expiresAt == before, "a clock that is kept in step makes no news")
            } else {
                // It is not sent in its last second.
                #expect(left == .seconds(199))
            }
        }
    }
}
