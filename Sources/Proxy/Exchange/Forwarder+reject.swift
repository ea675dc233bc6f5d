// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPClient
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdObservability
internal import BearerdRouting
internal import OAuth

/// CANCEL (RFC 9113 §7).
private let cancel: UInt32 = 0x8

/// Responses that bearerd makes itself.
extension Forwarder {
    func answerPreflight(_ exchange: Exchange) async throws(ProxyError) {
        try await answer(exchange, CrossOrigin.answer(toPreflight: exchange.client.request.fields))
    }

    /// Answers an OPTIONS whose `Max-Forwards` is used up (RFC 9110 §7.6.2).
    func answerAsLastHop(_ exchange: Exchange) async throws(ProxyError) {
        var response = HTTPResponse(status: 200)
        response.fields[.allow] = allowedMethods(for: exchange)
        response.fields[.contentLength] = "0"
        try await answer(exchange, response)
    }

    /// Sends a response of bearerd's own without content.
    private func answer(_ exchange: Exchange, _ answer: HTTPResponse) async throws(ProxyError) {
        var response = answer
        let client = exchange.client
        client.incoming.skipArrived()
        if !client.incoming.isFinished { client.leaveRequestUnread() }
        response.fields.append(worker.date.now)
        tellIdentifier(of: exchange, in: &response)
        exchange.record.status = response.status
        client.begin(&response, length: .none)
        try await flushToClient(exchange)
    }

    /// Answers with an error response, or breaks off a response that has begun.
    func reject(_ exchange: Exchange, _ cause: ProxyError) async {
        let client = exchange.client
        let error = reported(cause)
        if let denial = DenialReason(error) { recorder.metrics.countDenial(denial) }
        let failure = exchange.route.flatMap { route in
            UpstreamFailure(
                error, over: route.shared.address.transport, speaking: route.shared.address.httpProtocol,
                hasHead: exchange.record.status > 0)
        }
        if let route = exchange.route, let failure {
            route.tally.countUpstreamFailure(failure.label)
            route.shared.report.failed(failure)
        }
        let plan = exchange.route?.plan
        // Such a request has no route of its own; the one of its path is named.
        let refusing =
            error == .methodNotAllowed ? exchange.routing.table.routePath(for: client.request) : nil
        let mayKnowAddresses = isLocal(exchange)
        guard
            let rejection = Rejection(
                error, identity: plan?.session?.identity, source: plan?.source,
                route: plan?.key.path ?? refusing, hosts: error == .noRoute ? routedHosts(for: exchange) : [],
                upstream: mayKnowAddresses ? plan?.upstream.address : nil,
                provider: mayKnowAddresses ? plan?.session?.slot.failingServer : nil,
                loginURL: plan?.loginURL,
                pageInPlaceOfCommands: exchange.routing.pageInPlaceOfCommands, fields: client.request.fields)
        else {
            // One that a reload cuts in the middle keeps the status that its client has got.
            if !exchange.isCutByReload { exchange.record.status = 499 }
            if exchange.record.abortReason == nil { exchange.record.abortReason = .clientGone }
            // Perhaps it is there, and takes nothing.
            return cut(exchange, with: cancel)
        }
        if exchange.answer.hasBegun {
            if exchange.record.abortReason == nil {
                // By the upstream, or by what ended it here: a limit, a client that sends no more, the end of a drain.
                exchange.record.abortReason = failure == nil ? .rejected(rejection.code) : .truncated
            }
            if let route = exchange.route, let failure {
                if exchange.record.status < 400 { route.tally.countBrokenOff() }
                judgeFailure(failure, exchange, on: route)
            }
            return breakOff(exchange, error, rejection)
        }
        exchange.record.status = rejection.status
        exchange.record.abortReason = .rejected(rejection.code)
        if let route = exchange.route, let failure, rejection.status == 502 || rejection.status == 504 {
            judgeFailure(failure, exchange, on: route)
        }
        if rejection.status >= 500, let blame = rejection.blame {
            recorder.tally(of: exchange).countOwnFailure(blame)
        }
        client.incoming.skipArrived()
        // The bytes behind a CONNECT may be meant for the tunnel that it does not get.
        let wantsTunnel = rejection.status == 405 && client.request.method.isConnect
        if rejection.status == 400 || wantsTunnel || !client.incoming.isFinished {
            client.leaveRequestUnread()
        }
        if endsConnection(of: exchange) { client.endConnectionAfterAnswer() }
        // What had come of the upstream's answer is not in this one.
        exchange.record.bytesOut = 0
        await write(rejection, to: exchange)
    }

    /// Ends a response that has begun: a gRPC call by the status of our error, or that of the upstream's reset, everything
    /// else by a cut.
    private func breakOff(_ exchange: Exchange, _ error: ProxyError, _ rejection: Rejection) {
        let client = exchange.client
        guard client.request.version == .http2, client.request.fields.areOfGRPC else { return cut(exchange) }
        if let code = exchange.upstream?.tellingResetCode { return cut(exchange, with: code) }
        switch error {
        case .bodyTooLarge, .requestTimedOut, .uploadTimedOut, .answerTimedOut, .draining, .revoked:
            if !endCall(exchange, with: rejection) { cut(exchange) }
        default:
            // A reset by the upstream tells a code of its own; any other failure says nothing to the caller.
            let isLost =
                switch exchange.upstream?.loss {
                case .connection?, .silence?, .flood?: true
                default: false
                }
            if !isLost || !endCall(exchange, with: rejection) { cut(exchange) }
        }
    }

    /// Cuts the answer; what HTTP/2 has kept of it was not sent.
    private func cut(_ exchange: Exchange, with code: UInt32? = nil) {
        let client = exchange.client
        if let code { client.cut(with: code) } else { client.cut() }
        guard client.request.version == .http2 else { return }
        exchange.record.bytesOut = min(exchange.record.bytesOut, client.progress.sent)
    }

    /// Ends a gRPC call whose response has begun by trailers.
    ///
    /// - Returns: false if they would wait for the client to take what comes before them, or would belie a declared length.
    private func endCall(_ exchange: Exchange, with rejection: Rejection) -> Bool {
        guard exchange.answer.length == .open, takesAnswer(exchange) else { return false }
        exchange.record.grpcStatus = rejection.code.grpcStatus
        exchange.client.outgoing.end(trailers: rejection.callTrailers)
        return takesAnswer(exchange)
    }

    /// Returns true if only this machine can reach the listener, so that its clients may learn upstream
    /// addresses.
    private func isLocal(_ exchange: Exchange) -> Bool {
        guard exchange.routing.listener.key.address.isLoopback else { return false }
        switch exchange.client.peer {
        case .unix: return true
        case .ip(let host): return IPAddress.isLoopback(host: host)  // a passed socket may be bound anywhere
        case .unknown: return false
        }
    }

    /// Some of the hosts that have a route of the request's path, which is for another one.
    private func routedHosts(for exchange: Exchange) -> [String] {
        exchange.routing.table.routedHosts(for: exchange.client.request, atMost: Rejection.mostHosts)
    }

    private func write(_ rejection: Rejection, to exchange: Exchange) async {
        let client = exchange.client
        if client.request.version == .http2, client.request.fields.areOfGRPC {
            return await writeCall(rejection, to: exchange)
        }
        let message = rejection.message(isForPerson: client.request.fields.areOfWindow)
        var head = message.head
        head.fields.append(worker.date.now)
        tellIdentifier(of: exchange, in: &head)
        allowOrigin(of: exchange, in: &head.fields)
        if rejection.status == 405 { head.fields[.allow] = allowedMethods(for: exchange) }
        client.begin(&head, length: .exact(UInt64(message.body.count)))
        if client.request.method != .head {
            client.outgoing.append(message.body)
            exchange.record.bytesOut = UInt64(message.body.count)
            client.outgoing.end(trailers: HTTPFields())
        }
        announceEnd(of: exchange)
        try? await flushToClient(exchange)
        // A stream of HTTP/2 that was reset has no answer.
        if !client.outgoing.hasSent { exchange.record.bytesOut = 0 }
    }

    /// Answers a gRPC call with a status of its own in a head that is all of the answer.
    private func writeCall(_ rejection: Rejection, to exchange: Exchange) async {
        var head = rejection.callHead
        head.fields.append(worker.date.now)
        tellIdentifier(of: exchange, in: &head)
        exchange.record.grpcStatus = rejection.code.grpcStatus
        exchange.client.begin(&head, length: .none)
        try? await flushToClient(exchange)
    }

    /// The most bytes of an `X-Request-Id` that are sent back, because the client may have chosen it.
    private var longestIdentifier: Int { 128 }

    /// Puts the request's identifier into a response of our own, so that it can be found in the logs of all
    /// sides.
    private func tellIdentifier(of exchange: Exchange, in head: inout HTTPResponse) {
        identify(&exchange.client.request)
        guard let identifier = exchange.client.request.fields.bytes(of: .xRequestID) else { return }
        let told = identifier.prefix(longestIdentifier)
        head.fields.append(.xRequestID, bytes: told.span)
    }

    /// Sends the bytes that the client's sink has kept.
    func flushToClient(_ exchange: Exchange) async throws(ProxyError) {
        do {
            try await exchange.client.outgoing.flush(within: exchange.routing.streamIdle)
        } catch {
            exchange.client.leaveRequestUnread()
            throw .clientGone
        }
    }
}
