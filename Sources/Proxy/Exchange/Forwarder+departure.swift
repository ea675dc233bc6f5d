// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import HTTPClient
internal import HTTPExchange
internal import OAuth

/// What ends with a client that goes away.
extension Forwarder {
    /// Ends whatever the exchange waits for: its client has gone.
    func leave(_ exchange: Exchange) {
        exchange.presence.state = .gone
        exchange.presence.wait?.cancel()
        // No end in good order: the upstream of a tunnel is to see the cut.
        if exchange.isTunnel { exchange.upstream?.abort() } else { exchange.upstream?.close() }
        exchange.client.close()
    }

    /// Opens a connection to the upstream for as long as the client stays.
    func open(for exchange: Exchange, on route: RouteState<Pool>) async throws(ProxyError) -> Pool.Exchange {
        let (pool, timeout) = (route.pool, route.route.timeouts.connect)
        // Taken before the task begins: whoever asks meanwhile whether places are scarce must count this one.
        let place = pool.takePlace()
        let opened = await waiting(for: exchange) { () async -> Result<Pool.Exchange, UpstreamError> in
            do throws(UpstreamError) {
                return .success(try await pool.open(within: timeout, in: place))
            } catch {
                return .failure(error)
            }
        }
        switch opened {
        case .success(let upstream):
            guard !exchange.isClientGone else {
                pool.discard(upstream)
                throw .clientGone
            }
            return upstream
        case .failure(let error): throw ProxyError(error)
        case nil: throw .clientGone
        }
    }

    /// Asks the session for a token for as long as the client stays; the session's own request goes on without it.
    func freshToken(
        from session: AuthSession, for exchange: Exchange, waitingAtMost limit: Duration
    ) async throws(TokenError) -> AccessTokenSnapshot {
        let outcome = await waiting(for: exchange) { () async -> Result<AccessTokenSnapshot, TokenError> in
            do throws(TokenError) {
                return .success(try await session.freshToken(waitingAtMost: limit))
            } catch {
                return .failure(error)
            }
        }
        guard let outcome, !exchange.isClientGone else { throw .cancelled }
        return try outcome.get()
    }

    /// Tells the session of a refusal, and waits for another token for as long as the client stays.
    func replacement(
        from session: AuthSession, after rejection: TokenRejection, for exchange: Exchange,
        waitingAtMost limit: Duration
    ) async throws(ProxyError) -> AccessTokenSnapshot? {
        let replacement = await waiting(for: exchange) {
            await session.accessTokenRejected(rejection, waitingAtMost: limit)
        }
        guard !exchange.isClientGone else { throw .clientGone }
        return replacement ?? nil
    }

    /// Runs `body` as a task that is cancelled when the client leaves.
    private func waiting<Value>(for exchange: Exchange, _ body: @escaping () async -> Value) async -> Value? {
        guard !exchange.isClientGone else { return nil }
        var value: Value?
        let task = loop.startTask { value = await body() }
        exchange.presence.wait = task
        await task.value
        exchange.presence.wait = nil
        return value
    }
}
