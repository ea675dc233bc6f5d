// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange

/// The two kinds of upstreams that the routes of one worker lead to, each with a type of pool of its own.
///
/// Which kind a route's upstream is of is settled once for each request. Behind that the compiler has made code for that
/// kind alone, so that a request by HTTP/1.1 is no dearer for there being HTTP/2.
protocol UpstreamKinds {
    /// The pools of upstreams that speak HTTP/1.1.
    associatedtype HTTP1: ExchangePool
    /// The pools of upstreams that speak HTTP/2.
    associatedtype HTTP2: NegotiatingPool
}

/// One worker's connections to an upstream, by the kind that it is of.
enum UpstreamPools<Kinds: UpstreamKinds> {
    case http1(Kinds.HTTP1)
    case http2(Kinds.HTTP2)
    /// By HTTP/2 where the upstream chooses that, else by HTTP/1.1.
    case negotiated(Kinds.HTTP1, Kinds.HTTP2)

    /// The pools, for callers that are too rare to have code of their own for each kind.
    var all: [any ExchangePool] {
        switch self {
        case .http1(let pool): [pool]
        case .http2(let pool): [pool]
        case .negotiated(let http1, let http2): [http1, http2]
        }
    }
}
