// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import BearerdAdmin

struct `The limit of event streams` {
    @Test func `leaves half of them to others, and none beyond sixteen`() {
        let limit = EventStreamLimit()
        for _ in 0..<8 { #expect(limit.enter("uid 1")) }
        #expect(!limit.hasRoom(for: "uid 1") && !limit.enter("uid 1"))
        for _ in 0..<8 { #expect(limit.enter("uid 2")) }
        #expect(!limit.enter("uid 3"))
        limit.leave("uid 1")
        #expect(!limit.enter("uid 2") && limit.enter("uid 3"))
    }
}
