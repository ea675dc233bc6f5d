// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPClient
internal import BearerdHTTPMessages

/// The kinds of upstreams that workers have code for.
enum WorkerKinds: UpstreamKinds {
    /// HTTP/1.1: a connection for each exchange.
    typealias HTTP1 = UpstreamPool
    /// HTTP/2: exchanges share connections.
    typealias HTTP2 = HTTP2Pool
}

extension SharedUpstream {
    /// One worker's connections to it.
    func makePools(_ multis: CurlMultiSet) -> UpstreamPools<WorkerKinds> {
        switch address.httpProtocol {
        case .http1: .http1(makePool(multis))
        case .http2: .http2(makeStreamPool(multis, beside: nil))
        case .auto:
            // Without TLS nothing is chosen.
            if address.url.scheme == .https {
                makeBoth(multis)
            } else {
                .http1(makePool(multis))
            }
        }
    }

    private func makeBoth(_ multis: CurlMultiSet) -> UpstreamPools<WorkerKinds> {
        let single = makePool(multis)
        return .negotiated(single, makeStreamPool(multis, beside: single))
    }

    private func makePool(_ multis: CurlMultiSet) -> UpstreamPool {
        UpstreamPool(
            address: UpstreamAddress(url: address.url, transport: address.transport), limit: limit,
            lifetimes: lifetimes, headLimits: headLimits, multis: multis)
    }

    private func makeStreamPool(_ multis: CurlMultiSet, beside single: UpstreamPool?) -> HTTP2Pool {
        HTTP2Pool(
            address: address, limit: limit, lifetimes: lifetimes, headLimits: headLimits, multis: multis,
            single: single)
    }
}
