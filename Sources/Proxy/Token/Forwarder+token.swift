// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdRouting
internal import OAuth

/// The access token of a request.
extension Forwarder {
    /// Takes the session's current token if it is fresh, without a lock or a change of threads.
    ///
    /// - Returns: true if the session must be asked for a token.
    func lacksToken(_ exchange: Exchange, on route: RouteState) throws(ProxyError) -> Bool {
        guard let state = route.token else { return false }
        if let callers = state.callers { return try lacksToken(exchange, among: callers) }
        exchange.hasOwnCredentials = exchange.client.request.fields.contains(route.terms.credentials.name)
        if route.terms.tokenQuery != nil {
            guard exchange.client.request.targetBytes.first == UInt8(ascii: "/") else { return false }
        } else if exchange.hasOwnCredentials {
            switch route.terms.authorization {
            case .overwrite: break
            case .preserve: return false
            case .reject: throw .accessDenied(.authorizationHeader)
            }
        }
        exchange.token = state.token(usableAt: exchange.record.startedAt)
        return exchange.token == nil
    }

    func awaitToken(_ exchange: Exchange, on route: RouteState) async throws(ProxyError) {
        guard let session = route.token?.session else { return }
        if let caller = exchange.caller {
            return try await awaitToken(exchange, of: caller, on: route, session)
        }
        do throws(TokenError) {
            exchange.token = try await freshToken(
                from: session, for: exchange, waitingAtMost: route.plan.tokenWait)
        } catch {
            guard !exchange.isClientGone else { throw .clientGone }
            if case .pass = route.terms.onNoToken { return }
            throw ProxyError(error)
        }
    }

    /// Replaces the token by a fresh one if it expired while the body arrived.
    func renewToken(of exchange: Exchange, on route: RouteState) async throws(ProxyError) {
        guard exchange.token != nil else { return }
        if exchange.caller == nil { exchange.token = route.token?.current() }
        if exchange.token?.isUsable(at: .now) != true {
            exchange.token = nil
            // The credentials in the head are those that have expired, and not the client's.
            if route.terms.tokenQuery == nil { route.token?.authorization.clear(&exchange.client.request) }
            try await awaitToken(exchange, on: route)
        }
        putToken(into: exchange, for: route)
    }

    /// Writes the token into the target, behind what the client has put there, in place of that of an earlier attempt.
    private func putToken(into request: inout HTTPRequest, of exchange: Exchange, as query: QueryParameter) {
        // It has no query to put a token into, so no answer to it says anything of the token.
        guard request.targetBytes.first == UInt8(ascii: "/") else { return exchange.token = nil }
        query.remove(from: &request.targetBytes)
        exchange.token?.token.withPlaintextBytes { query.append($0, to: &request.targetBytes) }
    }

    /// Writes the token into the request, over credentials of the client or of an earlier attempt.
    func putToken(into exchange: Exchange, for route: RouteState) {
        putToken(into: &exchange.client.request, of: exchange, for: route)
    }

    /// The same for a head that is lent.
    func putToken(into request: inout HTTPRequest, of exchange: Exchange, for route: RouteState) {
        guard let state = route.token else { return }
        if let query = route.terms.tokenQuery { return putToken(into: &request, of: exchange, as: query) }
        let isBound = exchange.token?.isBound ?? false
        // A client that keeps its own credential keeps the proof of it.
        if isBound || state.mayProve && (exchange.token != nil || route.plan.replacesCredentials) {
            request.fields.remove(.dpop)
        }
        if let token = exchange.token {
            state.authorization.authorize(&request, with: token)
            exchange.needsProof = isBound
        } else if route.plan.replacesCredentials {
            // With an identity the client's own credentials never stand in for a missing token.
            state.authorization.clear(&request)
        }
    }
}
