// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdTestSupport
import Testing

/// Which connections to an upstream of HTTP/2 requests get.
@Suite(.blocking) struct `A pool of connections of HTTP/2` {
    @Test func `a request that may not be sent twice leaves a long idle connection alone`() async throws {
        let upstream = try HTTP2Upstream { _, _, _ in }
        let url = try #require(HTTPURL(upstream.url))
        try await onLoop { multis in
            let pool = HTTP2Pool(
                address: UpstreamAddress(url: url, httpProtocol: .http2), limit: UpstreamLimit(maximum: 10),
                lifetimes: .init(idleForUnrepeatable: .milliseconds(20)), headLimits: HeadLimits(),
                multis: multis)
            pool.discard(try await pool.open(for: RequestForm(), within: patience, in: nil))
            await multis.loop.pause(for: .milliseconds(40))
            let kept = try #require(pool.take(for: RequestForm(), mayRepeat: true))
            pool.discard(kept)
            await multis.loop.pause(for: .milliseconds(40))
            #expect(pool.take(for: RequestForm(), mayRepeat: false) == nil)
            pool.discard(try await pool.open(for: RequestForm(), within: patience, in: nil))
            #expect(pool.take(for: RequestForm(), mayRepeat: false) != nil)
        }
        #expect(upstream.connectionCount == 2)
    }
}
