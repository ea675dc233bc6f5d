// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import OAuth

/// Requests on behalf of their callers: each brings a token of its own, which is exchanged and never passed on.
extension Forwarder {
    /// Takes the caller's own token out of the request, and the one that it was exchanged for, if that is known.
    ///
    /// Whatever the route says of clients' credentials and of missing tokens: this one goes no further.
    ///
    /// - Returns: whether the session must be asked for one.
    func lacksToken(_ exchange: Exchange, among callers: CallerTokens) throws(ProxyError) -> Bool {
        let isAlone = exchange.client.request.fields.count(of: .authorization) == 1
        var field: [UInt8] = []
        exchange.client.request.fields.copy(.authorization, into: &field)
        exchange.client.request.fields.remove(.authorization)
        exchange.client.request.fields.remove(.dpop)
        guard isAlone, let caller = CallerToken(authorization: field) else {
            throw .accessDenied(.noCallerToken)
        }
        exchange.caller = caller
        guard let known = callers.known(caller.digest, at: exchange.record.startedAt) else { return true }
        try take(known, for: exchange)
        return false
    }

    func awaitToken(
        _ exchange: Exchange, of caller: CallerToken, on route: RouteState<Pool>, _ session: AuthSession
    ) async throws(ProxyError) {
        let known: CallerTokens.Known
        do throws(TokenError) {
            known = try await token(
                of: caller, from: session, for: exchange, waitingAtMost: route.plan.tokenWait)
        } catch {
            throw exchange.isClientGone ? .clientGone : ProxyError(error)
        }
        try take(known, for: exchange)
    }

    private func take(_ known: CallerTokens.Known, for exchange: Exchange) throws(ProxyError) {
        switch known {
        case .token(let token): exchange.token = token
        case .refused: throw .accessDenied(.callerToken)
        }
    }
}
