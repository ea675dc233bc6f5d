// SPDX-License-Identifier: Apache-2.0

internal import EventLoop
internal import HTTPClient
internal import HTTPServer
internal import HTTPTypes
internal import OAuth
internal import Observability

extension Forwarder {
    /// More 1xx answers than this before the final one are no answer.
    private static let interimLimit = 64

    /// Why one attempt to get an answer failed, and whether another may be made.
    private struct AttemptFailure: Error {
        let error: ProxyError
        /// A kept connection turned out to be dead before the answer's first byte.
        var connectionWasStale = false
        /// Not a byte of the request was taken.
        var nothingWasSent = false
    }

    /// Sends the request and receives the head of its answer.
    ///
    /// A kept connection may have died meanwhile: then the request goes out once more, on a fresh one, if its method is
    /// idempotent, or nobody can have seen it, and its body can be sent again (RFC 9110 9.2.2).
    func send(_ exchange: Exchange, on route: RouteState) async throws(ProxyError) {
        if !exchange.upload.hasArrived { try await gatherBody(of: exchange, on: route) }
        do {
            try await attempt(exchange, on: route, fresh: false)
        } catch {
            guard error.connectionWasStale, exchange.isReplayable,
                error.nothingWasSent || exchange.connection.request.method.isIdempotent
            else { throw error.error }
            do {
                try await attempt(exchange, on: route, fresh: true)
            } catch {
                throw error.error
            }
        }
    }

    /// Where places at the upstream grow scarce, lets a body arrive before it gets one, as much of it as may be kept:
    /// clients that send slowly could hold them all.
    private func gatherBody(of exchange: Exchange, on route: RouteState) async throws(ProxyError) {
        guard route.route.replayBuffer > 0, route.pool.isCrowded else { return }
        if exchange.connection.request.fields.has(.expect) { try await invite(exchange) }
        do {
            try await exchange.upload.gather()
        } catch {
            try judge(error)
        }
        try await renewToken(of: exchange, on: route)
    }

    private static let invitation = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// Has a client that waits for a 100 send its body (RFC 9110 10.1.1); the upstream is not asked.
    private func invite(_ exchange: Exchange) async throws(ProxyError) {
        let connection = exchange.connection
        guard connection.request.version == .http11,
            connection.request.fields.containsToken("100-continue", in: .expect)
        else { return }
        connection.request.fields.remove(.expect)
        try await writeToClient(Self.invitation, exchange)
    }

    /// Takes the token that is fresh now: the body may have taken longer than the one before could live.
    private func renewToken(of exchange: Exchange, on route: RouteState) async throws(ProxyError) {
        guard exchange.token != nil else { return }
        exchange.token = route.token?.current()
        if exchange.token?.isUsable(at: .now) != true {
            exchange.token = nil
            try await awaitToken(exchange, on: route)
        }
        putToken(into: exchange, for: route)
    }

    @inline(__always)
    private func attempt(_ exchange: Exchange, on route: RouteState, fresh: Bool) async throws(AttemptFailure)
    {
        guard !exchange.isClientGone else { throw AttemptFailure(error: .clientGone) }
        let upstream: UpstreamConnection
        if !fresh, let kept = keptConnection(for: exchange, on: route) {
            upstream = kept
        } else {
            do throws(ProxyError) {
                upstream = try await openConnection(for: exchange, on: route)
            } catch {
                throw AttemptFailure(error: error)
            }
        }
        exchange.upstream = upstream
        route.activeConnections += 1
        let sentBefore = upstream.stream.bytesSent
        do throws(ProxyError) {
            if try sendRequest(exchange, to: upstream) {
                exchange.upload.task = startTask { await self.sendRest(of: exchange, to: upstream) }
            }
            try await receiveHead(of: exchange, from: upstream, timeout: route.route.timeouts.firstByte)
            if route.report.isFailing { route.report.answered() }
        } catch {
            let wasStale =
                upstream.requestsServed > 0 && upstream.stream.input.isEmpty && error == .upstreamClosed
                && exchange.connection.stream.isOpen
            let nothingWasSent = upstream.stream.bytesSent == sentBefore
            if wasStale { heedStaleness(of: upstream, exchange, on: route) }
            await stopUpload(of: exchange)
            discardUpstream(of: exchange, on: route)
            throw AttemptFailure(error: error, connectionWasStale: wasStale, nothingWasSent: nothingWasSent)
        }
    }

    private func keptConnection(for exchange: Exchange, on route: RouteState) -> UpstreamConnection? {
        route.pool.take(
            mayRepeat: exchange.connection.request.method.isIdempotent
                && (exchange.framing == .none || exchange.isReplayable && !exchange.upload.isTooLong))
    }

    /// How soon a kept connection fails that was closed before the request came, not because of it.
    private static let staleWithin = Duration.seconds(1)

    /// Has the pool learn from a kept connection that ended instead of an answer.
    private func heedStaleness(of upstream: UpstreamConnection, _ exchange: Exchange, on route: RouteState) {
        let now = CoarseInstant.now
        let sentAt = exchange.upload.isFinished ? exchange.upload.finishedAt : now
        if now.duration(since: sentAt) < Self.staleWithin { route.pool.heedEnd(of: upstream, at: sentAt) }
    }

    // MARK: Request

    /// - Returns: whether there is more to send.
    private func sendRequest(_ exchange: Exchange, to upstream: UpstreamConnection) throws(ProxyError) -> Bool
    {
        do {
            try exchange.upload.sendStart(to: upstream.stream)
        } catch {
            try judge(error)
            return false  // the upstream may have answered before it stopped reading
        }
        return !exchange.upload.isFinished
    }

    /// The upload goes on beside the answer; if the client fails, the upstream must see a cut, not an end.
    private func sendRest(of exchange: Exchange, to upstream: UpstreamConnection) async {
        await exchange.upload.sendRest(to: upstream.stream)
        if case .client = exchange.upload.failure { upstream.stream.close() }
        if exchange.answerIsWhole { upstream.stream.readiness.interruptReader() }
    }

    /// Sends the rest of a body whose answer is whole already, as long as the upstream wants it.
    ///
    /// Whoever answers so early and keeps the connection reads on (RFC 9112 9.3), and may need what it reads.
    func finishUpload(of exchange: Exchange) async {
        // Who waited for a 100 in vain will hardly send the body now.
        guard exchange.upstreamPersists, exchange.status < 300,
            !exchange.connection.request.fields.has(.expect), let upstream = exchange.upstream?.stream
        else { return }
        exchange.answerIsWhole = true
        // Whatever comes now, its end too, says that the upstream is done; but so does the end of the upload.
        _ = try? await upstream.fill(within: .zero, isInside: true)
        if !exchange.upload.isRunning { upstream.readiness.forgetInterruption() }
    }

    /// Throws if a failed upload is the client's fault.
    private func judge(_ failure: Upload.Failure) throws(ProxyError) {
        switch failure {
        case .client(.malformed(let reason)): throw .malformedRequest(reason)
        case .client(.bodyTooLarge): throw .bodyTooLarge
        case .client(.stream(.timedOut)): throw .requestTimedOut
        case .client: throw .clientGone
        case .upstream: return
        }
    }

    /// Ends an upload that nobody waits for any more.
    func stopUpload(of exchange: Exchange) async {
        guard let task = exchange.upload.task else { return }
        exchange.upstream?.stream.close()
        exchange.connection.stream.readiness.interruptReader()
        if !exchange.upload.hasArrived { exchange.connection.endAfterAnswer() }
        await task.value
        exchange.connection.stream.readiness.forgetInterruption()
    }

    /// How long a refused request's body may take to arrive, for the request to be sent again.
    private static let bodyDelay = Duration.seconds(1)

    /// Whether all of the body can be sent again, after a moment for what is still on its way.
    ///
    /// Many a server refuses before it has read the body, which many a client sends in a segment of its own.
    func keepsWholeBody(_ exchange: Exchange) async -> Bool {
        let upload = exchange.upload
        // Who waits for a 100 sends no body now.
        if !upload.hasArrived, !upload.isTooLong, !exchange.connection.request.fields.has(.expect) {
            await upload.takeRest(within: Self.bodyDelay, on: loop)
        }
        return upload.hasArrived && exchange.isReplayable
    }

    // MARK: Response head

    /// Receives the final head; interim ones (1xx) are forwarded as they come (RFC 9110 15.2).
    @inline(__always)
    private func receiveHead(
        of exchange: Exchange, from upstream: UpstreamConnection, timeout: Duration
    ) async throws(ProxyError) {
        exchange.responseParser.reset()
        var interimCount = 0
        while true {
            guard let consumed = try parse(exchange, upstream) else {
                try await awaitAnswer(of: exchange, from: upstream, timeout: timeout)
                continue
            }
            upstream.stream.input.consume(consumed)
            guard exchange.response.isInterim else { break }
            interimCount += 1
            guard interimCount <= Self.interimLimit else { throw .upstreamProtocol }
            try await forwardInterim(exchange)
        }
        try beginResponseBody(of: exchange, from: upstream)
    }

    private func parse(_ exchange: Exchange, _ upstream: UpstreamConnection) throws(ProxyError) -> Int? {
        guard !upstream.stream.input.isEmpty else { return nil }
        do {
            return try upstream.stream.input.withReadable { (bytes) throws(HTTPParseError) in
                try exchange.responseParser.parse(bytes, into: &exchange.response)
            }
        } catch {
            throw .upstreamProtocol
        }
    }

    /// Waits for more of the head.
    ///
    /// The time-out runs from the last byte of the request.
    @inline(__always)
    private func awaitAnswer(
        of exchange: Exchange, from upstream: UpstreamConnection, timeout: Duration
    ) async throws(ProxyError) {
        var remaining = timeout
        while true {
            do throws(StreamError) {
                guard try await upstream.stream.fill(within: remaining, isInside: true) else { throw .reset }
                return
            } catch {
                if let failure = exchange.upload.failure { try judge(failure) }
                // In TLS 1.3 a server judges our certificate when the handshake is over for us.
                if case .transport = error, upstream.requestsServed == 0 {
                    throw .upstreamUnavailable(.tlsHandshake)
                }
                guard error == .timedOut else { throw .upstreamClosed }
                remaining = timeout
                if exchange.upload.isRunning { continue }
                remaining -= CoarseInstant.now.duration(since: exchange.upload.finishedAt)
                guard exchange.upload.isFinished, remaining > .zero else { throw .upstreamTimedOut }
            }
        }
    }

    private func forwardInterim(_ exchange: Exchange) async throws(ProxyError) {
        guard exchange.connection.request.version == .http11 else { return }
        exchange.response.fields.removeHopByHop()
        exchange.response.fields.remove(.contentLength)  // RFC 9110 8.6
        exchange.connection.output.removeAll(keepingCapacity: true)
        exchange.response.serialize(into: &exchange.connection.output)
        try await writeToClient(exchange.connection.output, exchange)
    }

    private func beginResponseBody(
        of exchange: Exchange, from upstream: UpstreamConnection
    ) throws(ProxyError) {
        if exchange.response.status == 101 {
            guard let chosen = exchange.response.fields[.upgrade], exchange.mayUpgrade(to: chosen),
                exchange.upload.isFinished
            else { throw .upstreamProtocol }
            exchange.upgrade = chosen
            return
        }
        do {
            exchange.responseFraming = try exchange.response.bodyFraming(
                answering: exchange.connection.request.method)
        } catch {
            throw .upstreamProtocol
        }
        if upstream.requestsServed == 0, exchange.response.fields.has(.keepAlive) {
            upstream.announcedPatience = exchange.response.announcedPatience
        }
        exchange.upstreamPersists =
            exchange.response.isPersistent && exchange.responseFraming != .untilClose
        exchange.responseBody.begin(exchange.responseFraming, on: upstream.stream)
    }

    // MARK: Giving the connection back

    /// Lets go of an answer that the client will not see.
    func discardAnswer(of exchange: Exchange, on route: RouteState) {
        exchange.responseBody.skipBuffered()
        releaseUpstream(of: exchange, on: route)
    }

    /// Keeps the connection for the next request if everything on it is said and done.
    func releaseUpstream(of exchange: Exchange, on route: RouteState) {
        guard let upstream = exchange.upstream else { return }
        let stream = upstream.stream
        guard exchange.upstreamPersists, exchange.responseBody.isFinished, exchange.upload.isFinished,
            stream.input.isEmpty, stream.isOpen
        else { return discardUpstream(of: exchange, on: route) }
        exchange.upstream = nil
        route.activeConnections -= 1
        stream.releaseStorage()
        route.pool.giveBack(upstream)
    }

    func discardUpstream(of exchange: Exchange, on route: RouteState) {
        guard let upstream = exchange.upstream else { return }
        exchange.upstream = nil
        route.activeConnections -= 1
        route.pool.discard(upstream)
    }
}
