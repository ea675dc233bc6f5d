// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange

/// The two kinds of upstreams that the routes of one worker lead to, each with a type of pool of its own.
///
/// Which kind a route's upstream is of is settled once for each request. Behind that the compiler has made code for that
/// kind alone, so that a request to one of the first is no dearer for there being a second.
protocol UpstreamKinds {
    /// The pools of most upstreams.
    associatedtype First: ExchangePool
    /// The pools of those that are spoken to otherwise.
    associatedtype Second: NegotiatingPool
}

/// One worker's connections to an upstream, by the kind that it is of.
enum UpstreamWay<Kinds: UpstreamKinds> {
    case first(Kinds.First)
    case second(Kinds.Second)
    /// By the second where the upstream chooses that, else by the first.
    case either(Kinds.First, Kinds.Second)

    /// The pools, for callers that are too rare to have code of their own for each kind.
    var pools: [any ExchangePool] {
        switch self {
        case .first(let pool): [pool]
        case .second(let pool): [pool]
        case .either(let first, let second): [first, second]
        }
    }
}
