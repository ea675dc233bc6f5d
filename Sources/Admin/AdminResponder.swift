// SPDX-License-Identifier: Apache-2.0

internal import BearerdAdminAPI
internal import BearerdEventLoop
internal import BearerdHTTPMessages
package import BearerdHTTPServer
internal import BearerdJSON
internal import BearerdObservability
internal import BearerdSystem
package import OAuth

/// Answers the requests to the admin listener.
package struct AdminResponder: HTTPResponder {
    private let settings: AdminSettings
    private let identities: any IdentityDirectory
    private let process: any ProcessControl
    private let now: @Sendable () -> Instant
    private let access: AdminAccess
    private let logins: BrowserLogins
    private let memory: AdminMemory
    /// The number of the responder's configuration.
    private let version: Int
    /// A word that its page has, and that of no other configuration or process.
    private let mark = String(UInt64.random(in: 0 ... .max), radix: 36)

    /// Makes the responder.
    ///
    /// - Parameters:
    ///   - settings: the settings from the configuration.
    ///   - identities: the sessions that it shows and acts on.
    ///   - process: the workers and the drain.
    ///   - receivers: receive redirects that arrive at other addresses.
    ///   - memory: the state that outlives the configuration.
    ///   - now: the clock by which expiry is judged.
    package init(
        settings: AdminSettings, identities: any IdentityDirectory, process: any ProcessControl,
        receivers: any RedirectReceivers, memory: AdminMemory,
        now: @escaping @Sendable () -> Instant = { ContinuousClock.now }
    ) {
        self.settings = settings
        self.identities = identities
        self.process = process
        self.now = now
        access = AdminAccess(
            hosts: settings.hosts, key: settings.key, needsKey: settings.needsKey,
            owners: settings.peerUserIDs.union([CurrentProcess.effectiveUser, 0]), guesses: memory.guesses,
            cookies: memory.cookies)
        self.memory = memory
        version = memory.nextVersion()
        logins = BrowserLogins(
            redirects: settings.redirects, pending: memory.logins, identities: identities,
            providers: settings.clients.compactMapValues(\.serverName), receivers: receivers,
            access: access)
    }

    /// The responder for redirects that arrive at an address of their own.
    package var redirectResponder: any HTTPResponder { CallbackResponder(logins: logins) }

    /// Returns true if a browser can log in to the identity.
    package func awaitsRedirects(of identity: String) -> Bool { logins.redirects[identity] != nil }

    package func judge(_ request: ServiceRequest) async -> ServiceJudgement {
        let resource = resource(of: request)
        do throws(AdminError) {
            return try await judgement(of: request, resource)
        } catch {
            guard let resource, request.isOfPerson else { return .refused(reply(to: error)) }
            return .refused(page(for: error, on: resource))
        }
    }

    /// The resource of a path; the path of redirects is set by the configuration.
    private func resource(of request: ServiceRequest) -> AdminResource? {
        AdminResource(path: request.path) ?? (logins.expect(request.path) ? .callback : nil)
    }

    /// The page for a refused person; it asks for the key if one is configured.
    private func page(for error: AdminError, on resource: AdminResource) -> ServiceReply {
        switch error {
        case .wrongKey: AdminPage.keyForm(to: resource, status: error.status)
        case .notOurUser:
            settings.key == nil
                ? AdminPage.reply(
                    "Not for this user", "<p class=\"problem\">\(error.detail)</p>", status: error.status)
                : AdminPage.keyForm(to: resource, problem: error.detail, status: error.status)
        default: reply(to: error)
        }
    }

    package func refusal(_ reason: ServiceRefusal) -> ServiceReply { reply(to: .notReceived(reason)) }

    /// Decides on a request before anything is done: the resource, the caller and the method.
    private func judgement(
        of request: ServiceRequest, _ resource: AdminResource?
    ) async throws(AdminError) -> ServiceJudgement {
        let guesser = resource?.isOpen ?? false ? request.peer : await access.guesser(of: request)
        guard let resource else {
            try access.checkReading(request, as: guesser)
            throw .notFound
        }
        switch resource {
        case .callback, .key: try access.checkHost(request)
        default: if !resource.isOpen { try access.checkReading(request, as: guesser) }
        }
        if !resource.isOpen { try access.checkSite(request, isForPerson: resource.isOpenToOtherSites) }
        guard resource.methods.contains(request.head.method) else {
            throw .methodNotAllowed(allowed: resource.methods)
        }
        if resource.isAction { try access.checkActing(request) }
        switch resource {
        case .revoke(let identity, _), .logout(let identity, _), .register(let identity),
            .userinfo(let identity):
            if let source = settings.clients[identity]?.source { throw .noProvider(source) }
        case .session(let identity): try checkHandingOver(to: identity)
        case .key: try access.checkForm(request)
        default: break
        }
        let right = resource.changes ? try await access.checkOwner(request, as: guesser) : OwnerRight()
        guard resource.takesBody else {
            return .answered(isProbe: resource.isOpen) { await self.answer(resource, request, by: right) }
        }
        return .answered(withBody: { body in
            var whole = request
            whole.body = body
            return await self.answer(resource, whole, by: right)
        })
    }

    private func checkHandingOver(to identity: String) throws(AdminError) {
        guard let needsPerson = identities.needsPerson(identity) else {
            throw .noSuchIdentity(identity)
        }
        guard needsPerson else { throw .needsNobody }
    }

    private func reply(to error: AdminError) -> ServiceReply {
        let problem = error.reply(namesCommands: settings.namesCommands)
        return kept(ServiceReply(head: problem.head, body: .bytes(problem.body)))
    }

    /// Forbids caches to store an answer.
    private func kept(_ reply: ServiceReply) -> ServiceReply {
        var reply = reply
        reply.head.fields[.cacheControl] = "no-store"
        return reply
    }

    private func answer(
        _ resource: AdminResource, _ request: ServiceRequest, by right: OwnerRight
    ) async -> ServiceReply {
        do throws(AdminError) {
            return kept(try await content(of: resource, request, by: right))
        } catch {
            return reply(to: error)
        }
    }

    private func content(
        of resource: AdminResource, _ request: ServiceRequest, by right: OwnerRight
    ) async throws(AdminError) -> ServiceReply {
        switch resource {
        case .health: return await health()
        case .readiness: return try await readiness(ofRoute: request.query)
        case .metrics: return await metrics()
        case .status: return .json(await status().json)
        case .page: return await page().reply
        case .events: return try await events(for: request)
        case .refresh(let identity): return try await act(on: identity, identities.refresh)
        case .invalidate(let identity): return try await act(on: identity, identities.invalidate)
        case .userinfo(let identity):
            return try await report(on: identity) { name throws(SessionFailure) in
                .object(try await identities.userinfo(name))
            }
        case .revoke(let identity, let hint):
            let hints = hint.map { [$0] } ?? TokenHint.allCases
            return try await report(on: identity) { name throws(SessionFailure) in
                RevocationReport(revoked: try await identities.revoke(hints, of: name)).json
            }
        case .logout(let identity, let onlyHere):
            return try await report(on: identity) { name throws(SessionFailure) in
                LogoutReport(try await identities.logOut(name, onlyHere: onlyHere)).json
            }
        case .register(let identity):
            return try await report(on: identity) { name throws(SessionFailure) in
                try await identities.register(name).json
            }
        case .session(let identity): return try await take(request, for: identity)
        case .quit: return try await quit()
        case .reload: return try await reload()
        case .login(let identity): return try await logins.begin(identity, request, by: right)
        case .callback: return await logins.finish(request)
        case .key: return try takeKey(request, as: await access.guesser(of: request, hasTyped: true))
        }
    }

    private func health() async -> ServiceReply {
        let report = HealthReport(silentWorkers: await process.silentWorkers())
        return .text(report.text, status: report.silentWorkers.isEmpty ? 200 : 503)
    }

    private func readiness(ofRoute query: String?) async throws(AdminError) -> ServiceReply {
        let readiness = ReadinessReport(
            routes: try routes(selectedBy: query), oneSuffices: Self.asksForAny(query),
            statuses: await identities.statuses(), isDraining: await process.isDraining(), now: now())
        return .json(readiness.json, status: readiness.isReady ? 200 : 503)
    }

    /// Returns true if the query has `any`: a route that can serve is enough for a gateway of several.
    private static func asksForAny(_ query: String?) -> Bool {
        (query ?? "").split(separator: "&").contains { ["any", "any=", "any=1", "any=true"].contains($0) }
    }

    /// The routes selected by `?route=PATH`, which may be there several times; all routes without it.
    private func routes(selectedBy query: String?) throws(AdminError) -> [AdminRoute] {
        let pairs = (query ?? "").split(separator: "&").filter { $0.hasPrefix("route=") }
        guard !pairs.isEmpty else { return settings.routes }
        let paths = pairs.map { PercentEncoding.decode($0.dropFirst("route=".count).utf8) }
        guard paths.allSatisfy({ path in settings.routes.contains { $0.path == path } }) else {
            throw .noSuchRoute(paths: Set(settings.routes.map(\.path)).sorted())
        }
        return settings.routes.filter { paths.contains($0.path) }
    }

    private func metrics() async -> ServiceReply {
        let snapshot = MetricsSnapshot(
            version: settings.version, workers: await process.workerMetrics(),
            identities: await identities.metrics(),
            routeCounts: settings.routes.reduce(into: [:]) { counts, route in
                if let identity = route.identity { counts[identity, default: 0] += 1 }
            },
            failingRoutes: Self.failingPaths(await process.upstreamHealth()),
            process: .current(),
            reloads: await process.reloads(), capacity: await process.capacity(),
            droppedLogLines: process.droppedLogLines,
            droppedAuditLines: process.droppedAuditLines, droppedSpans: process.droppedSpans)
        let page = MetricsPage.render(snapshot, identityStates: SessionState.allCases.map(\.rawValue))
        return .bytes(page, contentType: MetricsPage.contentType)
    }

    /// The paths, each with true if a route of it fails: routes of one path share a metric.
    private static func failingPaths(_ healths: [RouteScope: UpstreamHealth]) -> [String: Bool] {
        Dictionary(healths.map { ($0.key.path, $0.value.isFailing) }) { $0 || $1 }
    }

    private func status() async -> StatusDocument { await status(await process.workerMetrics()) }

    private func status(_ metrics: WorkerMetrics) async -> StatusDocument {
        let healths = await process.upstreamHealth()
        let figures = memory.history.figures(metrics)
        var document = StatusDocument(
            version: settings.version, uptime: process.uptime, identities: await identities.statuses(),
            routes: settings.routes.map { $0.status(figures[$0.path], health: healths[$0.scope]) },
            requests: RequestCounts(metrics), warnings: settings.warnings,
            silentWorkers: await process.silentWorkers(),
            daemon: DaemonLife(processID: CurrentProcess.identifier, startedAt: process.startTime),
            configurationFile: settings.configurationFile,
            refusedReload: await process.refusedReload())
        document.storeDirectory = settings.storeDirectory
        document.isDraining = await process.isDraining()
        let seconds = Int64(WallClock.secondsSinceEpoch)
        document.endedCertificates = await process.capacity().certificateEnds
            .compactMap { $0.ending(at: seconds) }
        return document
    }

    private func page() async -> StatusPage {
        let metrics = await process.workerMetrics()
        return StatusPage(
            document: await status(metrics),
            samples: memory.history.samples(with: metrics),
            logins: Set(settings.redirects.keys), clients: settings.clients,
            listeners: settings.listeners, namesCommands: settings.namesCommands, mark: mark,
            isDraining: await process.isDraining(),
            now: WallTime(sinceEpoch: WallClock.sinceEpoch))
    }

    private func events(for request: ServiceRequest) async throws(AdminError) -> ServiceReply {
        let replacements = settings.key?.replacements
        let events = StatusEvents(
            memory: memory, watcher: await access.watcher(of: request),
            isCurrent: { memory.version == version && settings.key?.replacements == replacements },
            page: { await page() }, isForPage: request.query == "page", mark: mark)
        guard let reply = events.reply else { throw .tooManyEventStreams }
        return reply
    }

    /// Performs an action and answers with the resulting status of the identity.
    private func act(
        on identity: String, _ action: (String) async throws(TokenError) -> Void
    ) async throws(AdminError) -> ServiceReply {
        _ = try await status(of: identity)
        do throws(TokenError) {
            try await action(identity)
        } catch {
            throw .session(.token(error), of: identity, reason: await lastError(of: identity))
        }
        return .json(try await status(of: identity).json)
    }

    /// Performs an action and answers with its result.
    private func report(
        on identity: String, _ action: (String) async throws(SessionFailure) -> JSONValue
    ) async throws(AdminError) -> ServiceReply {
        _ = try await status(of: identity)
        do throws(SessionFailure) {
            return .json(try await action(identity))
        } catch {
            throw .session(error, of: identity, reason: await lastError(of: identity))
        }
    }

    private func status(of identity: String) async throws(AdminError) -> SessionStatus {
        guard let status = await identities.statuses().first(where: { $0.name == identity })
        else { throw .noSuchIdentity(identity) }
        return status
    }

    /// The identity's last error, which whoever may act on the identity may read, too.
    private func lastError(of identity: String) async -> String? {
        try? await status(of: identity).lastError?.detail
    }

    /// Sets the cookie of a browser in which the right key was typed; shows the form again after a wrong one.
    private func takeKey(
        _ request: ServiceRequest, as guesser: PeerAddress
    ) throws(AdminError) -> ServiceReply {
        guard let form = KeyForm(request.body) else { throw .badBody }
        do throws(AdminError) {
            return AdminPage.forward(
                to: form.destination, cookie: try access.cookie(for: form.key, as: guesser))
        } catch {
            guard error == .wrongKey else { throw error }
            return AdminPage.keyForm(
                to: form.destination, problem: "This is not the key.", status: error.status)
        }
    }

    /// Lets an identity take over a session or login that a command began.
    private func take(
        _ request: ServiceRequest, for identity: String
    ) async throws(AdminError) -> ServiceReply {
        guard let transfer = (try? JSONValue(parsing: request.body)).flatMap(SessionTransfer.init) else {
            throw .badBody
        }
        do throws(LoginError) {
            let report = try await identities.take(transfer, for: identity, until: request.departure)
            return .json(report.json)
        } catch {
            throw .login(error)
        }
    }

    private func reload() async throws(AdminError) -> ServiceReply {
        do throws(ReloadRefusal) {
            let warnings = try await process.reload()
            return .json(["reloaded": true, "warnings": .array(warnings.map { .string($0) })])
        } catch {
            throw .reload(error)
        }
    }

    private func quit() async throws(AdminError) -> ServiceReply {
        guard settings.allowsQuit else { throw .quitIsOff }
        await process.quit()
        return .json(["draining": true], status: 202)
    }
}
