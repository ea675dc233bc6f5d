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
            let route = try findRoute(of: exchange)
            guard mayForward(exchange) else {
                try await answerAsLastHop(exchange)
                return ended(exchange)
            }
            try beginUpload(of: exchange, length, on: route)
            if try lacksToken(exchange, on: route) { try await awaitToken(exchange, on: route) }
            try rewriteHead(of: exchange, length, for: route)
            var upstream: Pool.Exchange
            repeat {
                upstream = try await requestAnswer(to: exchange, on: route)
                guard mayRepeat(exchange, after: upstream, on: route) else { break }
            } while try await mustRepeat(exchange, after: upstream, on: route)
            try await deliver(exchange, from: upstream, on: route)
            if exchange.upload.isRunning { await finishUpload(of: exchange, to: upstream) }
        } catch {
            // What an upload has in its hands must not be read a second time.
            if exchange.upload.isRunning { await stopUpload(of: exchange) }
            if let trace = exchange.trace { endSend(of: trace, error, hasHead: exchange.record.status > 0) }
            if exchange.repetition.isTokenOnTrial { exchange.route?.tally.countReplay(.failed) }
            await reject(exchange, exchange.isClientGone ? .clientGone : error)
        }
        if exchange.upload.isRunning { await stopUpload(of: exchange) }
        if let route = exchange.route { endUpstream(of: exchange, on: route) }
        ended(exchange)
    }

    /// Answers a head that could not be received.
    ///
    /// - Returns: true if a response was sent.
    func refuse(_ error: MessageError, _ exchange: Exchange) async -> Bool {
        exchange.begin()
        let refusal: ProxyError
        switch error {
        case .malformed(let reason): refusal = .malformedRequest(reason)
        case .headTimedOut: refusal = .requestTimedOut
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
