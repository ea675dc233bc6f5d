// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdObservability
internal import BearerdRouting

/// Admission of a request, and the choice of its route.
extension Forwarder {
    /// Determines the end of the request before anything else, so that the rest of a body is never taken for
    /// the next request.
    func beginBody(of exchange: Exchange) throws(ProxyError) -> BodyLength {
        do {
            return try exchange.client.beginBody(limit: exchange.routing.bodyLimit)
        } catch .malformed(let reason) {
            throw .malformedRequest(reason)
        } catch {
            throw .clientGone
        }
    }

    /// Decides if the client may make the request.
    ///
    /// - Returns: false for a browser's preflight, which is answered here.
    func admit(_ exchange: Exchange) throws(ProxyError) -> Bool {
        try judgeConnection(exchange)
        let client = exchange.client
        let present = client.request.fields.presence
        if present.has(.origin),
            exchange.routing.access.admitsOrigin(of: client.request.fields),
            CrossOrigin.isPreflight(client.request)
        {
            return false
        }
        let judgesReferer = present.has(.referer) && judgesReferer(of: exchange)
        if judgesReferer || exchange.routing.access.isAskedBy(present) {
            if let denial = exchange.routing.access.judge(
                client.request.fields, scheme: exchange.clientScheme, judgesReferer: judgesReferer)
            {
                throw .accessDenied(denial)
            }
            exchange.keepClaims()
        } else if present.has(.bearerdKey) {  // a reload may begin to ask for it
            exchange.keepClaims()
        }
        // Last, so that refused requests do not use up the rate limit of admitted ones.
        if let limit = exchange.routing.listener.rateLimit,
            !limit.take(at: exchange.record.startedAt.continuous)
        {
            throw .rateLimited
        }
        return true
    }

    private func judgesReferer(of exchange: Exchange) -> Bool {
        exchange.routing.listener.judgesReferer(
            toHost: exchange.client.request.fields[.host])
    }

    /// Judges the connection, once for a client and its rules until its certificate ends, and the `Host`, when it changes.
    private func judgeConnection(_ exchange: Exchange) throws(ProxyError) {
        let client = exchange.client
        if exchange.routing.listener.isSecured, !client.isCertificateCurrent { exchange.forgetClient() }
        guard exchange.host.isEmpty || !client.request.fields.has(.host, equalTo: exchange.host) else {
            return
        }
        exchange.host.removeAll()
        if !exchange.isClientAdmitted {
            if let refusal = exchange.routing.refusal(of: client) {
                client.endConnectionAfterAnswer()
                throw refusal
            }
            exchange.isClientAdmitted = true
        }
        guard exchange.routing.listener.hosts.contains(client.request.fields[.host]) else {
            // A CONNECT names the host of its tunnel.
            throw client.request.method.isNeverForwarded ? .methodRefused : .wrongHost
        }
        client.request.fields.copy(.host, into: &exchange.host)
    }

    func findRoute(of exchange: Exchange) throws(ProxyError) -> RouteByKind<Kinds> {
        let (client, routing) = (exchange.client, exchange.routing)
        var route = try client.request.route(in: routing.table)
        exchange.route = route.state
        if let callers = routing.callers {
            guard let own = callers.route(route, of: client.peer) else { throw .accessDenied(.user) }
            route = own
            exchange.route = own.state
        }
        if route.state.terms.rules != nil { try judge(client.request, by: route.state.terms) }
        return route
    }

    /// Judges the method and path before a token is fetched for the request.
    private func judge(_ request: HTTPRequest, by terms: RouteTerms) throws(ProxyError) {
        guard let rules = terms.rules, rules.rule(for: request.method, request.pathBytes.span) == nil else {
            return
        }
        throw .policyDenied(hasOddSegment: RequestPath.hasOddSegment(request.pathBytes.span))
    }

    /// Decrements `Max-Forwards`, if the request has one, and returns false if it must not be forwarded.
    func mayForward(_ exchange: Exchange) -> Bool {
        !exchange.client.request.fields.has(.maxForwards) || exchange.client.request.countForward()
    }

    /// The methods that the request's target accepts, for `Allow`, which a 405 must have (RFC 9110 §15.5.6).
    func allowedMethods(for exchange: Exchange) -> String {
        let methods =
            exchange.routing.table.methods(for: exchange.client.request) ?? HTTPMethod.forwarded
        return methods.map(\.rawValue).sorted().joined(separator: ", ")
    }
}

extension HTTPRequest {
    /// Finds the route; mutating so that a head in an object is lent, and not copied part by part.
    fileprivate mutating func route<Target>(in table: RouteTable<Target>) throws(ProxyError) -> Target {
        try table.route(for: method, targetBytes, host: fields[.host])
    }
}

extension HTTPMethod {
    /// The common ones of a route that sets none, which takes all but TRACE, TRACK and CONNECT.
    fileprivate static let forwarded: Set<HTTPMethod> = [.get, .head, .post, .put, .patch, .delete, .options]
}
