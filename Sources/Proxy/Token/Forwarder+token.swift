// SPDX-License-Identifier: Apache-2.0

internal import HTTPExchange
internal import HTTPMessages
internal import OAuth
internal import Observability

/// How a request gets its token.
extension Forwarder {
    /// Takes the token that is ready, while it is fresh: without a lock or a hop.
    ///
    /// - Returns: whether the session must be asked for one.
    func lacksToken(_ exchange: Exchange, on route: RouteState<Pool>) throws(ProxyError) -> Bool {
        guard let state = route.token else { return false }
        if route.route.authorization != .overwrite,
            exchange.client.request.fields.contains(route.route.credentials.name)
        {
            guard route.route.authorization == .reject else { return false }
            recorder.metrics.countDenial(.authorization)
            throw .accessDenied(.authorizationHeader)
        }
        guard let token = state.reader.current(), token.isUsable(at: exchange.record.startedAt) else {
            return true
        }
        exchange.token = token
        return false
    }

    func awaitToken(_ exchange: Exchange, on route: RouteState<Pool>) async throws(ProxyError) {
        guard let session = route.token?.session else { return }
        do throws(TokenError) {
            exchange.token = try await freshToken(
                from: session, for: exchange, waitingAtMost: route.route.timeouts.tokenWait)
        } catch {
            guard !exchange.isClientGone else { throw .clientGone }
            guard route.route.onNoToken != .pass else { return }
            // A session that was ended while somebody still waited for it.
            throw error == .cancelled ? .providerUnavailable(retryAfter: nil) : ProxyError(error)
        }
    }

    /// Takes the token that is fresh now: the body may have taken longer than the one before could live.
    func renewToken(of exchange: Exchange, on route: RouteState<Pool>) async throws(ProxyError) {
        guard exchange.token != nil else { return }
        exchange.token = route.token?.reader.current()
        if exchange.token?.isUsable(at: .now) != true {
            exchange.token = nil
            try await awaitToken(exchange, on: route)
        }
        putToken(into: exchange, for: route)
    }

    /// Writes the token over whatever the client, or an earlier attempt, had in its place.
    func putToken(into exchange: Exchange, for route: RouteState<Pool>) {
        guard let state = route.token else { return }
        if let token = exchange.token {
            state.authorization.authorize(&exchange.client.request, with: token)
        } else if route.route.authorization == .overwrite {
            // With an identity the client's own credentials never stand in for a missing token.
            state.authorization.clear(&exchange.client.request)
        }
    }
}
