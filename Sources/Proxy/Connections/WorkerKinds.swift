// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPClient

/// The kinds of upstreams that workers have code for.
enum WorkerKinds: UpstreamKinds {
    /// A connection for each exchange: HTTP/1.1.
    typealias First = UpstreamPool
    /// Nothing but HTTP/1.1 is spoken yet.
    typealias Second = UpstreamPool
}

extension SharedUpstream {
    /// One worker's connections to it.
    func makeWay(_ multis: CurlMultiSet) -> UpstreamWay<WorkerKinds> {
        .first(
            UpstreamPool(
                address: address, limit: limit, lifetimes: lifetimes, headLimits: headLimits, multis: multis))
    }
}
