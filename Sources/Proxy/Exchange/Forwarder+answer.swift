// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdRouting
internal import OAuth

/// The most bytes of a piece of a response after which the next one may be relayed, or kept for a client that does not take it at
/// once.
private let smallPiece = 4096

/// The upstream's response on its way to the client.
extension Forwarder {
    /// Sends the response to the client, every byte as soon as it arrives.
    @inline(__always)
    func deliver(
        _ exchange: Exchange, from upstream: some UpstreamExchange, on route: RouteState
    ) async throws(ProxyError) {
        exchange.record.status = upstream.response.status
        route.answers.hear()
        if exchange.record.status >= 400 { judgeAnswer(of: upstream, exchange, on: route) }
        if exchange.isTunnel { return try await tunnel(exchange, to: upstream) }
        writeHead(of: exchange, from: upstream, on: route)
        do throws(ProxyError) {
            if try !deliverAtOnce(exchange, from: upstream) {
                try await deliverRest(of: exchange, from: upstream, on: route)
            }
        } catch {
            exchange.answer.hasBegun = exchange.client.outgoing.hasSent
            throw error
        }
    }

    /// Rewrites the head of the response for the client and writes it.
    private func writeHead(
        of exchange: Exchange, from upstream: some UpstreamExchange, on route: RouteState
    ) {
        let client = exchange.client
        // An upstream that refuses a body on its way will hardly read it to its end, and a client that was to be asked for it
        // may never send it.
        let cutsUpload =
            !exchange.upload.isFinished
            && (exchange.record.status >= 300
                || client.request.fields.has(.expect) && !exchange.upload.hasArrived)
        if cutsUpload { client.leaveRequestUnread() }
        if endsConnection(of: exchange) { client.endConnectionAfterAnswer() }
        write(&upstream.response, for: exchange, on: route)
        exchange.answer.hasBegun = true
    }

    /// The steps that need the head, which is lent to them together.
    private func write(_ head: inout HTTPResponse, for exchange: Exchange, on route: RouteState) {
        var origins = HTTPResponse.Origins()
        if head.fields.has(.location) {
            origins.ofClient = exchange.clientOrigin
            origins.told = exchange.toldOrigin(on: route.plan)
        }
        // Before the route's edits, which may take it away.
        if !head.fields.has(.date) { head.fields.append(worker.date.now) }
        head.rewrite(for: route.plan, origins: origins)
        if route.plan.terms.tokenQuery != nil, let token = exchange.token?.token {
            token.withPlaintext { head.fields.removeValue($0) }
        }
        allowOrigin(of: exchange, in: &head.fields)
        exchange.client.begin(&head, length: exchange.answer.length)
    }

    /// Lets the calling page read the response if its origin is one of `access.origins`.
    func allowOrigin(of exchange: Exchange, in fields: inout HTTPFields) {
        guard !exchange.routing.access.origins.isEmpty else { return }
        CrossOrigin.vary(&fields)
        guard exchange.routing.access.admitsOrigin(of: exchange.client.request.fields) else { return }
        CrossOrigin.allow(exchange.client.request.fields[.origin], in: &fields)
    }

    /// Sends what has arrived, as much as the client takes at once; most responses are small and arrive
    /// complete.
    ///
    /// - Returns: true if the whole response has been sent.
    private func deliverAtOnce(
        _ exchange: Exchange, from upstream: some UpstreamExchange
    ) throws(ProxyError) -> Bool {
        let (incoming, outgoing) = (upstream.incoming, exchange.client.outgoing)
        do {
            var isWhole = incoming.isFinished
            while !isWhole, !loop.turnIsOver, try takeArrived(of: exchange, from: incoming) {
                guard try outgoing.offer(pieceOf: incoming) else { return false }
                isWhole = incoming.isFinished
            }
            // The last bytes may have been no piece.
            guard isWhole || incoming.isFinished else { return false }
            // The session hears of it before the client does, whose next call is to have another token.
            if exchange.isCall, upstream.isJudgedByTrailers,
                upstream.trailingCallStatus == GRPCStatus.unauthenticated
            {
                return false
            }
            end(exchange, from: upstream)
            return try outgoing.flush()
        } catch let error as ProxyError {
            throw error
        } catch {
            exchange.client.leaveRequestUnread()
            throw .clientGone
        }
    }

    /// Sends the rest of the response as it arrives; pieces that arrived together are sent together.
    private func deliverRest(
        of exchange: Exchange, from upstream: some UpstreamExchange, on route: RouteState
    ) async throws(ProxyError) {
        let timeout = route.terms.timeouts.streamIdle
        let (incoming, outgoing) = (upstream.incoming, exchange.client.outgoing)
        // The trailers may be there, and a slow client takes what comes before them much later.
        if upstream.isJudgedByTrailers { await judgeEnd(of: exchange, from: upstream, on: route) }
        // Before anything else is taken: what a slow client has left is held once, not twice. An end that is there goes with it.
        if !incoming.isFinished { try await flushToClient(exchange) }
        // Once a small piece has come by itself, more of them may.
        var isTrickling = false
        while !incoming.isFinished {
            if try !takeArrived(of: exchange, from: incoming) {
                if incoming.isFinished { break }
                if try !flushAtOnce(outgoing, of: exchange) { try await flushToClient(exchange) }
                if isTrickling, try await relay(exchange, from: incoming, within: timeout) { continue }
                guard try await takeNext(of: exchange, from: incoming, within: timeout) else { break }
            }
            isTrickling = (incoming.pieceCount ?? .max) <= smallPiece
            guard loop.turnIsOver || !isTrickling else {
                if try !giveAtOnce(outgoing, from: incoming) { try await flushToClient(exchange) }
                continue
            }
            do {
                try await outgoing.send(pieceOf: incoming, within: timeout)
            } catch {
                throw .clientGone
            }
        }
        // Before the client can know, whose next call is to have another token: an end goes out by itself.
        if upstream.isJudgedByTrailers { await judgeEnd(of: exchange, from: upstream, on: route) }
        end(exchange, from: upstream)
        try await flushToClient(exchange)
    }

    /// Has small pieces sent as they arrive, without this task, until there is something for it to do.
    ///
    /// - Returns: false if nothing was waited for.
    private func relay(
        _ exchange: Exchange, from incoming: some BodySource, within timeout: Duration
    ) async throws(ProxyError) -> Bool {
        // What moves the other way counts for a call, too, and nobody looks at that here.
        guard !exchange.client.request.fields.areOfGRPC else { return false }
        var uploaded = exchange.client.incoming.byteCount
        var failure: ProxyError?
        let hasWaited: Bool
        do {
            hasWaited = try await incoming.relay(within: timeout) {
                uploaded = exchange.client.incoming.byteCount
                do throws(ProxyError) {
                    return try self.passOn(exchange, from: incoming)
                } catch let error {
                    failure = error
                    return false
                }
            }
        } catch {
            // What ended the wait from within comes first: the client that goes may take the upstream with it.
            throw failure ?? silence(error, of: exchange, since: uploaded)
        }
        if let failure { throw failure }
        return hasWaited
    }

    /// Sends the pieces that have arrived.
    ///
    /// - Returns: false if they were the last, or the client does not take them.
    private func passOn(_ exchange: Exchange, from incoming: some BodySource) throws(ProxyError) -> Bool {
        let outgoing = exchange.client.outgoing
        while try takeArrived(of: exchange, from: incoming) {
            guard try giveAtOnce(outgoing, from: incoming) else { return false }
        }
        guard !incoming.isFinished else { return false }
        return try flushAtOnce(outgoing, of: exchange)
    }

    /// Sends the kept bytes without waiting: an async call that need not wait costs a chunk of a stream a tenth of its way.
    ///
    /// - Returns: true if nothing is left.
    private func flushAtOnce(_ outgoing: some BodySink, of exchange: Exchange) throws(ProxyError) -> Bool {
        do {
            return try outgoing.flush()
        } catch {
            exchange.client.leaveRequestUnread()
            throw .clientGone
        }
    }

    /// Gives the client the current piece, and keeps what it does not take.
    ///
    /// - Returns: false if that must be waited for.
    private func giveAtOnce(
        _ outgoing: some BodySink, from incoming: some BodySource
    ) throws(ProxyError) -> Bool {
        do {
            return try outgoing.offer(pieceOf: incoming)
        } catch {
            throw .clientGone
        }
    }

    private func end(_ exchange: Exchange, from upstream: some UpstreamExchange) {
        exchange.client.outgoing.end(
            trailers: upstream.incoming.hasTrailers
                ? upstream.incoming.trailers.without(exchange.route?.plan.unwantedResponseTrailers ?? [])
                : HTTPFields())
        if exchange.client.request.version == .http2 { noteCall(of: exchange, from: upstream) }
        announceEnd(of: exchange)
    }

    /// Notes how a gRPC call has ended.
    private func noteCall(of exchange: Exchange, from upstream: some UpstreamExchange) {
        guard exchange.isCall else { return }
        exchange.record.grpcStatus = upstream.trailingCallStatus ?? upstream.response.fields.grpcStatus
    }

    /// Takes a piece that has already arrived.
    ///
    /// - Returns: false if there is none.
    private func takeArrived(
        of exchange: Exchange, from incoming: some BodySource
    ) throws(ProxyError) -> Bool {
        do {
            guard let count = try incoming.nextPiece() else { return false }
            took(count, of: exchange, from: incoming)
            return true
        } catch {
            throw ProxyError(receivingAnswer: error, loss: exchange.upstream?.loss)
        }
    }

    /// Waits for the next piece and takes it.
    ///
    /// - Returns: false at the end of the content.
    @inline(__always)
    private func takeNext(
        of exchange: Exchange, from incoming: some BodySource, within timeout: Duration
    ) async throws(ProxyError) -> Bool {
        let uploaded = exchange.client.incoming.byteCount
        do {
            guard
                let count = try await exchange.client.nextPiece(
                    of: incoming, within: timeout,
                    sparingly: !exchange.client.outgoing.takesMuch)
            else { return false }
            took(count, of: exchange, from: incoming)
            return true
        } catch {
            throw silence(error, of: exchange, since: uploaded)
        }
    }

    /// The failure of a wait for content.
    ///
    /// - Parameter count: how much content of the request had come when the wait began.
    private func silence(_ error: MessageError, of exchange: Exchange, since count: UInt64) -> ProxyError {
        guard error == .stream(.timedOut) else {
            return ProxyError(receivingAnswer: error, loss: exchange.upstream?.loss)
        }
        return owesContent(exchange, since: count) ? .requestTimedOut(isHead: false) : .answerTimedOut
    }

    private func took(_ count: Int, of exchange: Exchange, from incoming: some BodySource) {
        exchange.record.bytesOut &+= UInt64(count)
        if !exchange.client.outgoing.framesEnd, incoming.isFinished {
            announceEnd(of: exchange)
        }
    }

    /// Announces the last send of the response, and of a connection that does not persist.
    ///
    /// Does nothing while the request is still arriving, because the connection cannot end then.
    func announceEnd(of exchange: Exchange) {
        guard !exchange.client.persists, !exchange.upload.isRunning else { return }
        exchange.client.endFollows()
    }
}
