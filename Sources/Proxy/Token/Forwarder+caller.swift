// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import OAuth

/// Requests on behalf of their callers: the caller's own token is exchanged (RFC 8693) and never forwarded.
extension Forwarder {
    /// Removes the caller's own token from the request and looks for the token that it was exchanged for.
    ///
    /// The caller's token is never forwarded, whatever the route says of clients' credentials and missing
    /// tokens.
    ///
    /// - Returns: true if the session must be asked for a token.
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
        guard let known = callers.known(caller.digest, at: exchange.record.startedAt.continuous) else {
            return true
        }
        try take(known, for: exchange)
        return false
    }

    func awaitToken(
        _ exchange: Exchange, of caller: CallerToken, on route: RouteState, _ session: AuthSession
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
