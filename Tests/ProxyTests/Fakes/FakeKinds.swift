// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPClient
import BearerdHTTPMessages

@testable import BearerdProxy

/// Upstreams with a connection for each exchange, and one with a connection for all.
enum FakeKinds: UpstreamKinds {
    typealias HTTP1 = FakePool
    typealias HTTP2 = FakeConnection
}

/// Makes pools, and remembers them.
final class PoolShelf {
    private(set) var pools: [FakePool] = []
    private(set) var connections: [FakeConnection] = []
    /// The host of an upstream that speaks HTTP/2.
    static let streamingHost = "streams.example"

    func makePools(to upstream: SharedUpstream) -> UpstreamPools<FakeKinds> {
        guard upstream.address.url.host == Self.streamingHost else {
            pools.append(FakePool())
            return .http1(pools[pools.count - 1])
        }
        connections.append(FakeConnection())
        return .http2(connections[connections.count - 1])
    }
}
