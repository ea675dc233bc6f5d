// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// The order of what people do to one session, whoever answers late.
@Suite struct `What people do to a session` {
    @Test func `is not waited for at the end, where the configuration brings again what somebody waits for`()
    {
        let run = EngineRun(.clientCredentials)
        let refresh = EngineEvent.refreshRequested(
            0, TokenAdditions(), by: 7, until: run.now + .seconds(60))
        guard let asked = run.play(refresh).asked else {
            Issue.record("nothing is asked for")
            return
        }
        let actions = run.play(.stopping)
        #expect(actions.hungUp == [asked] && actions.isQuiet)
        #expect(run.play(.stopped).failed == [7])
    }
}
