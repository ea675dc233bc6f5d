// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import EventLoop
internal import HTTPServer
internal import HTTPTypes
internal import OAuth
internal import Observability
internal import System

extension Forwarder {
    /// The life of one request, in order; every step is one line and one file away.
    ///
    /// What a request passes through but once is part of its caller's frame: each async call of its own costs some 150
    /// instructions.
    @inline(__always)
    func exchange(_ exchange: Exchange) async {
        exchange.begin()
        do throws(ProxyError) {
            try beginBody(of: exchange)
            guard try admit(exchange) else {
                try await answerPreflight(exchange)
                return record(exchange)
            }
            let route = try findRoute(of: exchange)
            if exchange.connection.request.fields.has(.maxForwards),
                !exchange.connection.request.countForward()
            {
                try await answerAsLastHop(exchange)
                return record(exchange)
            }
            try beginUpload(of: exchange, on: route)
            if try lacksToken(exchange, on: route) { try await awaitToken(exchange, on: route) }
            try rewriteHead(of: exchange, for: route)
            try await send(exchange, on: route)
            if hasVerdict(exchange, on: route) { try await heedVerdict(exchange, on: route) }
            try await deliver(exchange, on: route)
            if exchange.upload.isRunning { await finishUpload(of: exchange) }
        } catch {
            // What an upload has in its hands must not be read a second time.
            if exchange.upload.isRunning { await stopUpload(of: exchange) }
            await reject(exchange, exchange.isClientGone ? .clientGone : error)
        }
        if exchange.upload.isRunning { await stopUpload(of: exchange) }
        if let route = exchange.route { releaseUpstream(of: exchange, on: route) }
        record(exchange)
    }

    // MARK: Framing, access and route

    /// Finds out where the request ends, before anything is decided: what is left of a body must never be taken for
    /// the next request.
    private func beginBody(of exchange: Exchange) throws(ProxyError) {
        let connection = exchange.connection
        do {
            exchange.framing = try connection.request.framing.get()
        } catch {
            connection.endAfterAnswer()
            connection.body.begin(.none, on: connection.stream)
            throw .malformedRequest(error)
        }
        connection.body.begin(exchange.framing, on: connection.stream, limit: configuration.bodyLimit ?? .max)
    }

    /// Judges who asks.
    ///
    /// - Returns: `false` for a browser's preflight, which is answered here.
    private func admit(_ exchange: Exchange) throws(ProxyError) -> Bool {
        try judgeHost(exchange)
        let connection = exchange.connection
        if connection.request.fields.has(.origin),
            configuration.access.admitsOrigin(of: connection.request.fields),
            CrossOrigin.isPreflight(connection.request)
        {
            return false
        }
        let judgesReferer = connection.request.fields.has(.referer) && judgesReferer(of: exchange)
        if judgesReferer || configuration.access.isAskedBy(connection.request.fields),
            let denial = configuration.access.judge(
                connection.request.fields, scheme: exchange.clientScheme, judgesReferer: judgesReferer)
        {
            metrics.countDenial(denial == .key ? .key : .origin)
            throw .accessDenied(denial)
        }
        // The last: who may not come in takes nothing away from those who may.
        if let limit = configuration.listeners[exchange.listener].rateLimit,
            !limit.take(at: exchange.startedAt)
        {
            metrics.countDenial(.rate)
            throw .rateLimited
        }
        return true
    }

    private func judgesReferer(of exchange: Exchange) -> Bool {
        configuration.listeners[exchange.listener].judgesReferer(
            toHost: exchange.connection.request.fields[.host])
    }

    private func judgeHost(_ exchange: Exchange) throws(ProxyError) {
        let connection = exchange.connection
        guard exchange.host.isEmpty || !connection.request.fields.has(.host, equalTo: exchange.host) else {
            return
        }
        exchange.host.removeAll()
        guard configuration.listeners[exchange.listener].hosts.contains(connection.request.fields[.host])
        else {
            metrics.countDenial(.host)
            throw .wrongHost
        }
        connection.request.fields.copy(.host, into: &exchange.host)
    }

    private func answerPreflight(_ exchange: Exchange) async throws(ProxyError) {
        try await answer(exchange, CrossOrigin.answer(toPreflight: exchange.connection.request.fields))
    }

    /// Answers an OPTIONS that may go no further (RFC 9110 7.6.2).
    private func answerAsLastHop(_ exchange: Exchange) async throws(ProxyError) {
        var response = HTTPResponse(status: 200)
        response.fields[.allow] = allowedMethods(for: exchange)
        response.fields[.contentLength] = "0"
        try await answer(exchange, response)
    }

    /// Answers without a body in the upstream's place.
    private func answer(_ exchange: Exchange, _ answer: HTTPResponse) async throws(ProxyError) {
        var response = answer
        exchange.connection.body.skipBuffered()
        if !exchange.connection.body.isFinished { exchange.connection.endAfterAnswer() }
        if !exchange.connection.persists { response.fields[.connection] = "close" }
        Self.date(&response)
        tellIdentifier(of: exchange, in: &response)
        exchange.status = response.status
        exchange.connection.output.removeAll(keepingCapacity: true)
        response.serialize(into: &exchange.connection.output)
        try await writeToClient(exchange.connection.output, exchange)
    }

    private func findRoute(of exchange: Exchange) throws(ProxyError) -> RouteState {
        let connection = exchange.connection
        let index = try table.route(
            for: connection.request.method, connection.request.targetBytes, listener: exchange.listener,
            host: connection.request.fields[.host])
        exchange.route = routes[index]
        return routes[index]
    }

    private func beginUpload(of exchange: Exchange, on route: RouteState) throws(ProxyError) {
        exchange.upload.begin(
            exchange.framing, keepLimit: route.route.replayBuffer, timeout: route.route.timeouts.streamIdle)
        if exchange.framing == .chunked {
            exchange.upload.unwantedTrailers = route.unwantedRequestTrailers
            exchange.upload.reservedNames = route.reservedNames
        }
        if case .length(let length) = exchange.framing, length > configuration.bodyLimit ?? .max {
            throw .bodyTooLarge
        }
    }

    // MARK: Token

    /// Takes the token that is ready, while it is fresh: without a lock or a hop.
    ///
    /// - Returns: whether the session must be asked for one.
    private func lacksToken(_ exchange: Exchange, on route: RouteState) throws(ProxyError) -> Bool {
        guard route.route.session != nil else { return false }
        if route.route.authorization != .overwrite,
            exchange.connection.request.fields.contains(route.route.credentials.name)
        {
            guard route.route.authorization == .reject else { return false }
            metrics.countDenial(.authorization)
            throw .accessDenied(.authorizationHeader)
        }
        guard let token = route.token?.current(), token.isUsable(at: exchange.startedAt) else { return true }
        exchange.token = token
        return false
    }

    func awaitToken(_ exchange: Exchange, on route: RouteState) async throws(ProxyError) {
        guard let session = route.route.session else { return }
        do throws(TokenError) {
            exchange.token = try await freshToken(
                from: session, for: exchange, waitingAtMost: route.route.timeouts.tokenWait)
        } catch {
            guard !exchange.isClientGone else { throw .clientGone }
            if route.route.onNoToken != .pass { throw ProxyError(error) }
        }
    }

    // MARK: The head that goes up

    private func rewriteHead(of exchange: Exchange, for route: RouteState) throws(ProxyError) {
        let connection = exchange.connection
        if connection.request.fields.has(.upgrade) {
            exchange.upgrade = upgrade(wantedBy: connection.request, on: route, framing: exchange.framing)
        }
        identify(exchange)
        if !route.keepsTarget { exchange.originalTarget.append(contentsOf: connection.request.targetBytes) }
        try connection.request.rewrite(
            for: route, host: exchange.host, framing: exchange.framing, upgrade: exchange.upgrade,
            peer: connection.peer, scheme: exchange.clientScheme)
        putToken(into: exchange, for: route)
    }

    /// Writes the token over whatever the client, or an earlier attempt, had in its place.
    func putToken(into exchange: Exchange, for route: RouteState) {
        guard let token = exchange.token else {
            // With an identity the client's own credentials never stand in for a missing token.
            if route.route.session != nil, route.route.authorization == .overwrite {
                exchange.connection.request.fields.remove(route.route.credentials.name)
            }
            return
        }
        guard !route.takesBearerLine else {
            exchange.connection.request.fields.remove(.authorization)
            exchange.connection.request.fields.append(
                line: token.authorizationLine.plaintextBytes, of: .authorization)
            return
        }
        let credentials = route.route.credentials
        exchange.connection.request.fields.remove(credentials.name)
        token.token.withPlaintext { plaintext in
            let value = credentials.scheme.isEmpty ? plaintext : "\(credentials.scheme) \(plaintext)"
            _ = exchange.connection.request.fields.append(credentials.name, value)
        }
    }

    // MARK: What the upstream thinks of the token

    /// Whether the session may have to hear of the answer: of a refusal, or, once for each token and route, that the
    /// upstream takes the token.
    private func hasVerdict(_ exchange: Exchange, on route: RouteState) -> Bool {
        guard let generation = exchange.token?.generation else { return false }
        return exchange.response.status >= 300 || route.acceptedGeneration != generation
            || route.token?.slot.isWatched ?? false
    }

    /// Tells the session and, where a refusal brings another token, asks the upstream once more.
    private func heedVerdict(_ exchange: Exchange, on route: RouteState) async throws(ProxyError) {
        guard let token = exchange.token, let session = route.route.session else { return }
        let status = exchange.response.status
        // Another token would have the same scope (RFC 6750 3.1).
        let lacksScope = status == 403 && exchange.response.challengeError == .insufficientScope
        let wantsReplay = route.route.retryOnStatus.contains(status) && !lacksScope && exchange.isReplayable
        let mayReplay = wantsReplay ? await keepsWholeBody(exchange) : false
        guard status == 401 || mayReplay else {
            await reportAcceptance(of: token, by: route, session)
            return
        }
        if status == 401 {
            metrics.countAuthorizationError(route: route.index, error: exchange.response.challengeError)
        }
        let rejection = TokenRejection(
            generation: token.generation, route: route.route.path, isUnauthorized: status == 401,
            canReplay: mayReplay)
        let replacement = try await self.replacement(
            from: session, after: rejection, for: exchange, waitingAtMost: route.route.timeouts.tokenWait)
        guard mayReplay, let replacement else { return }
        guard !replacement.token.matches(token.token.plaintextBytes) else {
            // Some providers hand out one token until it expires: this one was refused just now.
            if status == 401 { await reportRefusal(of: replacement, by: route, session) }
            return
        }
        if exchange.upload.isRunning { await stopUpload(of: exchange) }
        discardAnswer(of: exchange, on: route)
        exchange.token = replacement
        putToken(into: exchange, for: route)
        exchange.connection.request.fields.remove(.expect)  // the whole body is here
        exchange.isReplayed = true
        do {
            try await send(exchange, on: route)
        } catch {
            metrics.countReplay(route: route.index, result: .failed)
            throw error
        }
        if exchange.response.status == 401 {
            metrics.countReplay(route: route.index, result: .refused)
            await reportRefusal(of: replacement, by: route, session)
        } else {
            metrics.countReplay(route: route.index, result: .accepted)
            route.acceptedGeneration = replacement.generation
            await session.accessTokenAccepted(
                generation: replacement.generation, route: route.route.path, isReplayed: true)
        }
    }

    /// Tells the session that the upstream does not take a token that it has only just got.
    private func reportRefusal(
        of token: AccessTokenSnapshot, by route: RouteState, _ session: AuthSession
    ) async {
        _ = await session.accessTokenRejected(
            TokenRejection(
                generation: token.generation, route: route.route.path, canReplay: false, isReplayed: true),
            waitingAtMost: .zero)
    }

    /// Tells the session, once for each token and route, that the upstream takes it.
    private func reportAcceptance(
        of token: AccessTokenSnapshot, by route: RouteState, _ session: AuthSession
    ) async {
        guard route.acceptedGeneration != token.generation || session.slot.isWatched else { return }
        route.acceptedGeneration = token.generation
        await session.accessTokenAccepted(generation: token.generation, route: route.route.path)
    }

    // MARK: The end

    /// For `Allow`, which a 405 must have (RFC 9110 15.5.6), where a route takes all but TRACE and CONNECT.
    private static let anyMethod: Set<HTTPMethod> = [.get, .head, .post, .put, .patch, .delete, .options]

    /// What `Allow` says of the request's target.
    private func allowedMethods(for exchange: Exchange) -> String {
        let methods =
            table.methods(for: exchange.connection.request, listener: exchange.listener) ?? Self.anyMethod
        return methods.map(\.rawValue).sorted().joined(separator: ", ")
    }

    /// Answers in the upstream's place, or cuts an answer that has begun.
    func reject(_ exchange: Exchange, _ error: ProxyError) async {
        let connection = exchange.connection
        if let route = exchange.route, let failure = UpstreamFailure(error, hasHead: exchange.status > 0) {
            metrics.countUpstreamFailure(route: route.index, reason: failure.label)
            route.report.failed(failure)
        }
        let identity = exchange.route?.route.session?.identity
        guard let rejection = Rejection(error, identity: identity, fields: connection.request.fields) else {
            exchange.status = 499
            exchange.code = "client_gone"
            connection.endAfterAnswer()
            return connection.stream.close()
        }
        if exchange.answerHasBegun {
            exchange.code = "truncated"
            connection.endAfterAnswer()
            return connection.stream.close()
        }
        exchange.status = rejection.status
        exchange.code = rejection.code
        let isHead = connection.request.method == .head
        connection.body.skipBuffered()
        // What comes behind a CONNECT may be meant for the tunnel that it does not get.
        let wantsTunnel = rejection.status == 405 && connection.request.method.isConnect
        if isDraining || rejection.status == 400 || wantsTunnel || !connection.body.isFinished {
            connection.endAfterAnswer()
        }
        let message = rejection.message()
        var head = message.head
        if !connection.persists {
            head.fields[.connection] = "close"
        } else if connection.request.version == .http10 {
            head.fields[.connection] = "keep-alive"
        }
        Self.date(&head)
        tellIdentifier(of: exchange, in: &head)
        allowOrigin(of: connection, in: &head.fields)
        if rejection.status == 405 {
            head.fields[.allow] = allowedMethods(for: exchange)
        }
        connection.output.removeAll(keepingCapacity: true)
        head.serialize(into: &connection.output)
        if !isHead { connection.output.append(contentsOf: message.body) }
        exchange.bytesOut = UInt64(isHead ? 0 : message.body.count)
        announceEnd(of: exchange)
        try? await writeToClient(connection.output, exchange)
    }

    /// Says when an answer of our own was made (RFC 9110 6.6.1).
    static func date(_ head: inout HTTPResponse) {
        head.fields[.date] = Timestamp.fieldText(unixSeconds: WallClock.unixMilliseconds / 1000)
    }

    /// Counts the request and writes its line.
    func record(_ exchange: Exchange) {
        let duration = exchange.startedAt.duration(to: .now)
        let route = exchange.route?.index
        metrics.countRequest(route: route, status: exchange.status, duration: duration)
        rest.worked()
        guard configuration.accessLog != nil else { return }
        let connection = exchange.connection
        let record = AccessRecord(
            unixMilliseconds: WallClock.unixMilliseconds, duration: duration,
            method: connection.request.method.rawValue, route: route, status: exchange.status,
            code: exchange.code, bytesIn: connection.body.byteCount &+ exchange.tunnelledIn,
            bytesOut: exchange.bytesOut,
            isReplayed: exchange.isReplayed, peer: connection.peer.text)
        let target =
            exchange.originalTarget.isEmpty ? connection.request.targetBytes : exchange.originalTarget
        if !connection.request.fields.has(.xRequestID) {  // it was refused before one was made
            connection.request.fields.append(line: requestIDs.nextLine(), of: .xRequestID)
        }
        let identifier = connection.request.fields.bytes(of: .xRequestID) ?? []
        accessLog.append(record, target: target.span, requestID: identifier.span)
        accessLogChanged()
    }
}
