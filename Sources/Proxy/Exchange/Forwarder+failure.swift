// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdObservability
internal import OAuth

/// Answers by which a route is judged to fail; see ``RouteJudge``.
extension Forwarder {
    /// Marks an answer of the upstream that counts as failed, and keeps its words: 5xx, and to a token of ours 401, and
    /// 403 with a challenge.
    func judgeAnswer(
        of upstream: some UpstreamExchange, _ exchange: Exchange, on route: RouteState
    ) {
        let status = upstream.response.status
        if status < 500 {
            guard exchange.token != nil, status == 401 || status == 403 else { return }
            if status == 403 {
                guard upstream.response.bearerChallenge != nil else { return }
                if upstream.response.challengeError == .insufficientScope {
                    route.tally.countAuthorizationError(.insufficientScope)
                }
            }
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
