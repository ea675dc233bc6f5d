// SPDX-License-Identifier: Apache-2.0

import BearerdHTTP2
import BearerdTestSupport
import Testing

/// Who resets a stream that was there for a while is in no hurry.
@Suite struct `Resets of calls that ran out of time` {
    @Test func `calls that run out of time, as many as there may be at once, are no flood`() throws {
        let peer = try #require(FramePeer())
        for round in 0..<UInt32(50) {
            let ids = (0..<UInt32(100)).map { round * 200 + $0 * 2 + 1 }
            peer.send(ids.map { .head(FramePeer.get, stream: $0) })
            peer.now += .milliseconds(100)
            peer.send(ids.map { .reset($0, code: 8) })
            try #require(peer.session.failure == nil, "round \(round)")
        }
    }

    @Test func `only the first reset of a call that ran out of time is none of a flood`() throws {
        for isWhole in [true, false] {
            let peer = try #require(FramePeer())
            peer.send(.head(FramePeer.get, stream: 1))
            peer.now += .seconds(1)
            let resets = Array(repeating: HTTP2Frame.reset(1, code: 8), count: 1000)
            if isWhole { peer.send(resets) } else { for reset in resets { peer.send(reset) } }
            #expect(peer.goawayCode() == HTTP2ErrorCode.enhanceYourCalm.rawValue)
        }
    }
}
