// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdObservability
internal import BearerdRouting
internal import OAuth

/// The effect of a reload on requests in flight: they finish under their old snapshot, except endless
/// streams.
extension Forwarder {
    /// Finds the exchanges that would not be accepted under the current rules.
    ///
    /// - Returns: true if it found new ones.
    func judgeAgain() -> Bool {
        var hasFound = false
        clients.forEachExchange { exchange in
            guard exchange.presence.state != .idle, let abortReason = objection(to: exchange) else {
                exchange.revocation = nil
                return
            }
            guard exchange.revocation == nil else { return }
            exchange.revocation = Revocation(version: worker.version, abortReason: abortReason)
            hasFound = true
        }
        return hasFound
    }

    /// Cuts revoked exchanges whose response has no end: tunnels and event streams.
    ///
    /// - Parameter version: revocations up to this version count.
    /// - Returns: true if other revoked exchanges wait for their response, which may still become a stream, or calls were told
    ///   to end.
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
            let wasTold = exchange.record.abortReason != nil
            exchange.record.abortReason = exchange.revocation?.abortReason
            // A call ends by a status, which whoever serves the exchange sends, unless its client takes nothing.
            if exchange.isCall, !wasTold {
                hurry(exchange)
                hasOthers = true
            } else {
                leave(exchange)
            }
        }
        return hasOthers
    }

    /// The reason why the exchange would not be accepted under the current rules; nil if it would, or has no
    /// route yet.
    private func objection(to exchange: Exchange) -> AbortReason? {
        guard let old = exchange.route?.plan else { return nil }
        let (routing, client) = (worker.routing.routing(at: exchange.routing.listener), exchange.client)
        guard !routing.endsConnections(of: client.request.version) else { return .routeGone }
        let host = exchange.host.isEmpty ? nil : String(decoding: exchange.host, as: UTF8.self)
        let claims = exchange.record.hasClaims ? exchange.claims : HTTPFields()
        guard routing.refusal(of: client) == nil, routing.listener.hosts.contains(host),
            routing.access.judge(
                claims, scheme: exchange.clientScheme,
                judgesReferer: claims.has(.referer) && routing.listener.judgesReferer(toHost: host)) == nil
        else { return .accessGone }
        let target = exchange.originalTarget.isEmpty ? client.request.targetBytes : exchange.originalTarget
        do throws(ProxyError) {
            let method = client.request.method
            let found = try routing.table.route(for: method, target, host: host)
            guard let new = (routing.callers.map { $0.route(found, of: client.peer) } ?? found)?.state
            else { return .accessGone }
            guard new.plan.key == old.key || new.plan.leads(whereDoes: old) else { return .routeGone }
            let path = target.prefix { $0 != UInt8(ascii: "?") }
            if let rules = new.terms.rules, rules.rule(for: method, path.span) == nil { return .accessGone }
            guard mayTunnel(exchange, on: new), maySendItsCredentials(exchange, on: new) else {
                return .accessGone
            }
            return new.plan.session === old.session ? nil : .accessGone
        } catch {
            return error == .noRoute ? .routeGone : .accessGone
        }
    }

    /// Returns false if the exchange is, or may become, a tunnel of a protocol that the route does not pass.
    private func mayTunnel(_ exchange: Exchange, on route: RouteState) -> Bool {
        guard exchange.isTunnel || !exchange.answer.hasBegun, let upgrade = exchange.form.upgrade else {
            return true
        }
        return upgrade.split(separator: ",").contains { name in
            route.terms.passes(protocol: String(name.drop { $0 == " " }))
        }
    }

    /// Returns false if the request came with credentials of the client's own, which the route refuses.
    private func maySendItsCredentials(_ exchange: Exchange, on route: RouteState) -> Bool {
        guard case .reject = route.terms.authorization, route.token != nil, route.terms.tokenQuery == nil
        else { return true }
        let name = route.terms.credentials.name
        return name == exchange.route?.terms.credentials.name
            ? !exchange.hasOwnCredentials : !exchange.client.request.fields.contains(name)
    }

    /// The number of open tunnels, event streams and calls of gRPC for each route's name.
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
    /// Returns true if the other route leads from the same path to the same place, even with another token or
    /// terms.
    fileprivate func leads(whereDoes other: PreparedRoute) -> Bool {
        key.path == other.key.path && upstreamAuthority == other.upstreamAuthority
            && upstreamPrefix == other.upstreamPrefix
    }
}

extension Exchange {
    /// True if a reload, and not the client, has ended an answer that had begun.
    var isCutByReload: Bool {
        guard answer.hasBegun || isTunnel else { return false }
        return record.abortReason == .routeGone || record.abortReason == .accessGone
    }

    /// True if the response goes on until somebody ends it: a tunnel, an event stream or, for all that is known, a call of
    /// gRPC.
    fileprivate var isEndless: Bool {
        if isTunnel { return true }
        guard answer.hasBegun else { return false }
        if let isEndless = answer.isEndless { return isEndless }
        guard let fields = upstream?.response.fields else { return false }
        let isEvents = fields[.contentType]?.lowercased().hasPrefix("text/event-stream") ?? false
        let isEndless = isEvents || fields.areOfGRPC
        answer.isEndless = isEndless  // each step of the history asks again, of each stream
        return isEndless
    }
}
