// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdObservability

extension Forwarder {
    /// Serves one request; each step is one line here and has a file of its own.
    ///
    /// Functions that a request passes once are inlined, because each async call costs some 150 instructions.
    @inline(__always)
    func serve(_ exchange: Exchange) async {
        exchange.begin()
        if exchange.routing.version != worker.version { renewRouting(of: exchange) }
        clients.begin(exchange)
        if exchange.routing.isTraced { beginTrace(of: exchange) }
        do throws(ProxyError) {
            let length = try beginBody(of: exchange)
            guard try admit(exchange) else {
                try await answerPreflight(exchange)
                return ended(exchange)
            }
            let kind = try findRoute(of: exchange)
            let route = kind.state
            guard mayForward(exchange) else {
                try await answerAsLastHop(exchange)
                return ended(exchange)
            }
            try beginUpload(of: exchange, length, on: route)
            if try lacksToken(exchange, on: route) { try await awaitToken(exchange, on: route) }
            if waitsInVain(exchange, on: route) { try await invite(exchange) }
            try rewriteHead(of: exchange, length, for: route)
            switch kind {
            case .http1(let route): await forward(exchange, on: route)
            case .http2(let route): await forward(exchange, on: route)
            case .negotiated(let http1, let http2):
                let usesHTTP2 = try await usesHTTP2(on: http2, for: exchange)
                if usesHTTP2 { await forward(exchange, on: http2, mayDecline: true) }
                if !usesHTTP2 || exchange.repetition.isDeclined { await forward(exchange, on: http1) }
            }
        } catch {
            await reject(exchange, exchange.isClientGone ? .clientGone : error)
        }
        ended(exchange)
    }

    /// The part of a request's life that the upstream has a share in: the same for all kinds, but made for each.
    ///
    /// - Parameter mayDecline: true if the upstream has another pool too. A request that it wants by that one, and that can
    ///   go by it, is left unanswered, and its repetition says so.
    @inline(__always)
    private func forward<Pool: ExchangePool>(
        _ exchange: Exchange, on route: PooledRoute<Pool>, mayDecline: Bool = false
    ) async {
        var upstream: Pool.Exchange?
        do throws(ProxyError) {
            var answering: Pool.Exchange
            repeat {
                answering = try await requestAnswer(to: exchange, on: route)
                upstream = answering
                guard needsJudgement(exchange, after: answering, on: route) else { break }
            } while try await prepareRepetition(exchange, after: answering, on: route)
            try await deliver(exchange, from: answering, on: route)
            // Before the client ends its direction, which it may do much later.
            if exchange.isCall {
                if answering.trailingCallStatus == GRPCStatus.unauthenticated {
                    await judgeEnd(of: exchange, from: answering, on: route)
                }
                judgeCall(of: answering, exchange, on: route)
            }
            if exchange.upload.isRunning { await finishUpload(of: exchange, to: answering) }
        } catch {
            let cause = cause(of: error, exchange)
            // The bytes that an upload holds must not be read a second time.
            if exchange.upload.isRunning { await stopUpload(of: exchange) }
            if let trace = exchange.trace {
                endSend(of: exchange, trace, cause, status: exchange.record.status)
            }
            if error == .upstreamUnavailable(.declined), mayDecline, exchange.isReplayable,
                !exchange.isClientGone, !exchange.isCall
            {
                exchange.repetition.isDeclined = true
                return
            }
            if exchange.repetition.isTokenOnTrial { route.tally.countReplay(.failed) }
            await reject(exchange, exchange.isClientGone ? .clientGone : cause)
        }
        if exchange.upload.isRunning { await stopUpload(of: exchange, isAnswered: true) }
        // The exchange has it for as long as it is not given back.
        if let upstream, exchange.upstream != nil { end(upstream, of: exchange, on: route) }
    }

    /// Answers a head that could not be received.
    ///
    /// - Returns: true if a response was sent.
    func refuse(_ error: MessageError, _ exchange: Exchange) async -> Bool {
        exchange.begin()
        let refusal: ProxyError
        switch error {
        case .malformed(let reason):
            refusal = .malformedRequest(reason)
            if reason == .handshake {
                exchange.routing.listener.strayTLS?.begun(by: exchange.client.peer)
            }
        case .headTimedOut: refusal = .requestTimedOut(isHead: true)
        case .unencrypted: refusal = .unencryptedRequest
        case .bodyTooLarge, .truncated, .stream: return false
        }
        await reject(exchange, refusal)
        recorder.record(exchange)
        return true
    }

    /// Applies the current snapshot to a request that begins.
    private func renewRouting(of exchange: Exchange) {
        exchange.use(worker.routing.routing(at: exchange.routing.listener))
    }

    private func ended(_ exchange: Exchange) {
        recorder.record(exchange)
        if let trace = exchange.trace { export(trace, of: exchange) }
        clients.end(exchange)
    }
}
