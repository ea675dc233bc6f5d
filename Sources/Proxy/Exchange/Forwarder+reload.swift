// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdObservability
internal import BearerdRouting

/// What becomes of requests in flight when what holds is another: they end as they began, but for those without an end.
extension Forwarder {
    /// Finds out which exchanges would not be begun any more.
    ///
    /// - Returns: whether there are any that were not found before.
    func judgeAgain() -> Bool {
        var hasFound = false
        clients.forEachExchange { exchange in
            guard exchange.presence.state != .idle, let ending = objection(to: exchange) else {
                exchange.revocation = nil
                return
            }
            guard exchange.revocation == nil else { return }
            exchange.revocation = Revocation(version: worker.version, ending: ending)
            hasFound = true
        }
        return hasFound
    }

    /// Cuts the tunnels and event streams, which would go on for ever, of exchanges that would not be begun any more.
    ///
    /// - Parameter version: what brought that, or what was before it.
    /// - Returns: whether there are others, which may still become one.
    func endStreams(revokedBy version: Int) -> Bool {
        var unwanted: [Exchange] = []
        var hasOthers = false
        clients.forEachExchange { exchange in
            guard let revocation = exchange.revocation, revocation.version <= version,
                exchange.presence.state != .idle, exchange.presence.state != .gone
            else { return }
            if exchange.isEndless {
                unwanted.append(exchange)
            } else if !exchange.answer.hasBegun {
                hasOthers = true
            }
        }
        for exchange in unwanted {
            exchange.record.ending = exchange.revocation?.ending
            leave(exchange)
        }
        return hasOthers
    }

    /// Why an exchange would not be begun by what holds now; nil if it would, or has no route yet.
    private func objection(to exchange: Exchange) -> OwnEnding? {
        guard let old = exchange.route?.plan else { return nil }
        let (routing, client) = (worker.routing.routing(at: exchange.routing.listener), exchange.client)
        guard !routing.isClosing else { return .routeGone }
        let host = exchange.host.isEmpty ? nil : String(decoding: exchange.host, as: UTF8.self)
        let claims = exchange.record.hasClaims ? exchange.claims : HTTPFields()
        guard routing.denial(of: client) == nil, routing.listener.hosts.contains(host),
            routing.access.judge(
                claims, scheme: exchange.clientScheme,
                judgesReferer: claims.has(.referer) && routing.listener.judgesReferer(toHost: host)) == nil
        else { return .accessGone }
        let target = exchange.originalTarget.isEmpty ? client.request.targetBytes : exchange.originalTarget
        do throws(ProxyError) {
            let method = client.request.method
            let found = try routing.table.route(for: method, target, host: host)
            guard let new = routing.callers.map({ $0.route(found, of: client.peer) }) ?? found else {
                return .accessGone
            }
            guard new.plan.key == old.key || new.plan.leads(whereDoes: old) else { return .routeGone }
            let path = target.prefix { $0 != UInt8(ascii: "?") }
            if let rules = new.terms.rules, rules.rule(for: method, path.span) == nil { return .accessGone }
            return new.plan.session === old.session ? nil : .accessGone
        } catch {
            return error == .noRoute ? .routeGone : .accessGone
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
}

extension PreparedRoute {
    /// Whether another route leads from the same path to the same place, though it asks for something else.
    fileprivate func leads(whereDoes other: PreparedRoute) -> Bool {
        key.path == other.key.path && upstreamAuthority == other.upstreamAuthority
            && upstreamPrefix == other.upstreamPrefix
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
