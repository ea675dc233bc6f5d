// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdObservability
internal import OAuth

/// Answers by which a route is judged to fail; see ``RouteJudge``.
extension Forwarder {
    /// Returns true if the answer may have stalled because the client, whose request has not ended, was silent for as long.
    ///
    /// - Parameter count: how much content had come of it when the wait for more of the answer began.
    func owesContent(_ exchange: Exchange, since count: UInt64) -> Bool {
        // A call is waited for while either direction moves.
        exchange.upload.isAwaitingClient
            && (exchange.client.request.fields.areOfGRPC || exchange.client.incoming.byteCount == count)
    }

    /// The failure as it is reported: once the worker is stopped, each is our own.
    func reported(_ error: ProxyError) -> ProxyError { worker.isStopped ? .draining : error }

    /// The failure of the party that owed bytes: of two timers with the same limit either may fire first.
    func cause(of error: ProxyError, _ exchange: Exchange) -> ProxyError {
        switch exchange.record.abortReason {
        case .routeGone: return .revoked(isRouteGone: true)
        case .accessGone: return .revoked(isRouteGone: false)
        default: break
        }
        // What has become of the answer because the client's content broke off is no fault of the upstream's.
        let cause = exchange.upload.isCutByClient ? exchange.upload.failure ?? error : error
        switch cause {
        case .requestTimedOut where exchange.answer.hasBegun && !takesAnswer(exchange): return .clientGone
        case .answerTimedOut, .upstreamProtocol:
            return exchange.upload.hasStalled && exchange.answer.hasBegun ? .uploadTimedOut : cause
        default: return cause
        }
    }

    /// Returns true if the client has room for all that is there of the answer.
    func takesAnswer(_ exchange: Exchange) -> Bool {
        (try? exchange.client.outgoing.flush()) == true
    }

    /// Marks an answer of the upstream that counts as failed, and keeps its words: 5xx, and to a token of ours 401, and
    /// 403 with a challenge.
    func judgeAnswer(
        of upstream: some UpstreamExchange, _ exchange: Exchange, on route: RouteState
    ) {
        let status = upstream.response.status
        if status < 500 {
            guard exchange.token != nil, status == 401 || status == 403 else { return }
            guard status == 401 || upstream.response.bearerChallenge != nil else { return }
            let lacksScope = status == 403 && upstream.response.challengeError == .insufficientScope
            if lacksScope { route.tally.countAuthorizationError(.insufficientScope) }
            if status == 401 || lacksScope { route.tally.countTokenRefusal() }
        }
        exchange.record.hasFailed = true
        let judge = route.shared.judge
        guard judge.wantsWords(at: CoarseInstant.second) else { return }
        judge.note(
            AnswerFailure(upstream.response, to: exchange.token, of: route.token?.session.identity))
    }

    /// Marks a gRPC call that has ended with a status that counts as a failed answer: UNAVAILABLE as 5xx, and to a token of
    /// ours UNAUTHENTICATED as 401.
    func judgeCall(of upstream: some UpstreamExchange, _ exchange: Exchange, on route: RouteState) {
        guard exchange.record.status < 300, exchange.isCall,
            let status = upstream.trailingCallStatus ?? upstream.response.fields.grpcStatus,
            status == GRPCStatus.unavailable
                || (status == GRPCStatus.unauthenticated && exchange.token != nil)
        else { return }
        exchange.record.hasFailed = true
        let judge = route.shared.judge
        guard judge.wantsWords(at: CoarseInstant.second) else { return }
        judge.note(
            AnswerFailure(status: exchange.record.status, cause: "grpc-status \(status) from the upstream"))
    }

    /// Marks an answer of our own in the upstream's place, or one that broke off.
    func judgeFailure(_ failure: UpstreamFailure, _ exchange: Exchange, on route: RouteState) {
        exchange.record.hasFailed = true
        let judge = route.shared.judge
        guard judge.wantsWords(at: CoarseInstant.second) else { return }
        judge.note(AnswerFailure(status: exchange.record.status, cause: failure.reason))
    }
}
