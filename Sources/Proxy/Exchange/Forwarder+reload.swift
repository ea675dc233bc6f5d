// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import HTTPExchange
internal import HTTPMessages

/// What becomes of requests on routes that the snapshot in force does not have.
extension Forwarder {
    /// Cuts tunnels and event streams, which would go on for ever, of routes that were taken away and did not come back;
    /// other answers end by themselves.
    func endStreams(on gone: Set<RouteKey>) {
        var unwanted: [Exchange] = []
        clients.forEachExchange { exchange in
            guard exchange.presence.state != .idle, let key = exchange.route?.plan.key,
                gone.contains(key), !routing.has(key), !isServed(exchange), exchange.isEndless
            else { return }
            unwanted.append(exchange)
        }
        for exchange in unwanted {
            exchange.record.code = "route_gone"
            leave(exchange)
        }
    }

    /// Whether the path that an exchange came by still leads to its upstream, though the route asks for something else.
    private func isServed(_ exchange: Exchange) -> Bool {
        guard let old = exchange.route?.route else { return false }
        return routing.routes.contains { state in
            state.route.path == old.path && state.route.upstreamAuthority == old.upstreamAuthority
                && state.route.upstreamPrefix == old.upstreamPrefix
        }
    }
}

extension Exchange {
    /// Whether its answer goes on until somebody ends it.
    fileprivate var isEndless: Bool {
        if isTunnel { return true }
        let type = upstream?.response.fields[.contentType]?.lowercased() ?? ""
        return answer.hasBegun && type.hasPrefix("text/event-stream")
    }
}
