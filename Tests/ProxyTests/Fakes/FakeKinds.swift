// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPClient
import BearerdHTTPMessages

@testable import BearerdProxy

/// Upstreams with a connection for each exchange, and one with a connection for all.
enum FakeKinds: UpstreamKinds {
    typealias First = FakePool
    typealias Second = FakeConnection
}

/// Makes pools, and remembers them.
final class PoolShelf {
    private(set) var pools: [FakePool] = []
    private(set) var connections: [FakeConnection] = []
    /// The host of an upstream of the second kind.
    static let streamingHost = "streams.example"

    func makeWay(to upstream: SharedUpstream) -> UpstreamWay<FakeKinds> {
        guard upstream.address.url.host == Self.streamingHost else {
            pools.append(FakePool())
            return .first(pools[pools.count - 1])
        }
        connections.append(FakeConnection())
        return .second(connections[connections.count - 1])
    }
}
