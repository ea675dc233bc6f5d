// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import HTTPExchange
internal import HTTPMessages
internal import Observability
internal import Routing

/// What becomes of requests on routes that the snapshot in force does not have.
extension Forwarder {
    /// Cuts tunnels and event streams, which would go on for ever, of routes that were taken away and did not come back;
    /// other answers end by themselves.
    func endStreams(on gone: Set<RouteKey>) {
        var unwanted: [Exchange] = []
        clients.forEachExchange { exchange in
            guard exchange.presence.state != .idle, let key = exchange.route?.plan.key,
                gone.contains(key), !worker.routing.has(key), !isServed(exchange), exchange.isEndless
            else { return }
            unwanted.append(exchange)
        }
        for exchange in unwanted {
            exchange.record.ending = .routeGone
            leave(exchange)
        }
    }

    /// How many tunnels and event streams are open, by the route's name.
    var openStreams: [String: Int] {
        var streams: [String: Int] = [:]
        clients.forEachExchange { exchange in
            guard exchange.presence.state != .idle, let tally = exchange.route?.tally, exchange.isEndless
            else {
                return
            }
            streams[tally.name, default: 0] += 1
        }
        return streams
    }

    /// Whether the path that an exchange came by still leads to its upstream, though the route asks for something else.
    private func isServed(_ exchange: Exchange) -> Bool {
        guard let old = exchange.route?.plan else { return false }
        return worker.routing.routes.contains { state in
            state.plan.key.path == old.key.path && state.plan.upstreamAuthority == old.upstreamAuthority
                && state.plan.upstreamPrefix == old.upstreamPrefix
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
