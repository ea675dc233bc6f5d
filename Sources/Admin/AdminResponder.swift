// SPDX-License-Identifier: Apache-2.0

internal import AdminAPI
internal import HTTPMessages
package import HTTPServer
internal import JSON
package import OAuth
internal import Observability
internal import System

/// The admin listener's answers.
package struct AdminResponder: HTTPResponder {
    private let settings: AdminSettings
    private let identities: any IdentityDirectory
    private let process: any ProcessControl
    private let now: @Sendable () -> Instant
    private let access: AdminAccess

    /// Makes the responder.
    ///
    /// - Parameters:
    ///   - settings: what the configuration says.
    ///   - identities: the sessions it shows and acts on.
    ///   - process: the workers and the drain.
    ///   - now: the clock that judges expiry.
    package init(
        settings: AdminSettings, identities: any IdentityDirectory, process: any ProcessControl,
        now: @escaping @Sendable () -> Instant = { ContinuousClock.now }
    ) {
        self.settings = settings
        self.identities = identities
        self.process = process
        self.now = now
        access = AdminAccess(
            hosts: settings.hosts, key: settings.key, needsKey: settings.needsKey,
            guesses: KeyGuesses(now: now))
    }

    package func judge(_ request: ServiceRequest) async -> ServiceJudgement {
        do throws(AdminError) {
            return try await judgement(of: request)
        } catch {
            return .refused(reply(to: error))
        }
    }

    package func refusal(_ reason: ServiceRefusal) -> ServiceReply { reply(to: .notReceived(reason)) }

    /// What is asked for, by whom, and how, before any of it is done.
    private func judgement(of request: ServiceRequest) async throws(AdminError) -> ServiceJudgement {
        guard let resource = AdminResource(path: request.path) else {
            try access.checkReading(request)
            throw .notFound
        }
        if !resource.isOpen { try access.checkReading(request) }
        guard resource.methods.contains(request.head.method) else {
            throw .methodNotAllowed(allowed: resource.methods)
        }
        if resource.isAction { try access.checkActing(request) }
        guard case .session(let identity) = resource else {
            return .answered(isProbe: resource.isOpen) { await self.answer(resource, request) }
        }
        try await checkHandingOver(to: identity, request)
        return .answered(withBody: { body in
            var whole = request
            whole.body = body
            return await self.answer(resource, whole)
        })
    }

    private func checkHandingOver(
        to identity: String, _ request: ServiceRequest
    ) async throws(AdminError) {
        try access.checkHandingOver(request)
        guard let needsPerson = identities.needsPerson(identity) else { throw .notFound }
        guard needsPerson else { throw .needsNobody }
    }

    private func reply(to error: AdminError) -> ServiceReply {
        let problem = error.reply
        return kept(ServiceReply(head: problem.head, body: .bytes(problem.body)))
    }

    /// Nobody on the way keeps an answer.
    private func kept(_ reply: ServiceReply) -> ServiceReply {
        var reply = reply
        reply.head.fields[.cacheControl] = "no-store"
        return reply
    }

    private func answer(_ resource: AdminResource, _ request: ServiceRequest) async -> ServiceReply {
        do throws(AdminError) {
            return kept(try await content(of: resource, request))
        } catch {
            return reply(to: error)
        }
    }

    private func content(
        of resource: AdminResource, _ request: ServiceRequest
    ) async throws(AdminError) -> ServiceReply {
        switch resource {
        case .health: return await health()
        case .readiness: return try await readiness(ofRoute: request.query)
        case .metrics: return await metrics()
        case .status: return .json(await status().json)
        case .page: return .html(StatusPage.render(await status()))
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
        case .logout(let identity):
            return try await report(on: identity) { name throws(SessionFailure) in
                LogoutReport(try await identities.logOut(name)).json
            }
        case .register(let identity):
            return try await report(on: identity) { name throws(SessionFailure) in
                try await identities.register(name).json
            }
        case .session(let identity): return try await take(request.body, for: identity)
        case .quit: return try await quit()
        case .reload: return try await reload()
        case .login, .callback: throw .notSupported
        }
    }

    private func health() async -> ServiceReply {
        await process.loopsTurn() ? .text("ok") : .text("a loop is stuck", status: 503)
    }

    private func readiness(ofRoute query: String?) async throws(AdminError) -> ServiceReply {
        let readiness = ReadinessReport(
            routes: try routes(selectedBy: query), statuses: await identities.statuses(),
            isDraining: await process.isDraining(), now: now())
        return .json(readiness.json, status: readiness.isReady ? 200 : 503)
    }

    /// The routes that `?route=PATH` names, all of them without it.
    private func routes(selectedBy query: String?) throws(AdminError) -> [AdminRoute] {
        let pairs = (query ?? "").split(separator: "&")
        guard let pair = pairs.first(where: { $0.hasPrefix("route=") }) else { return settings.routes }
        let path = PercentEncoding.decode(pair.dropFirst("route=".count).utf8)
        let selected = settings.routes.filter { $0.path == path }
        guard !selected.isEmpty else { throw .notFound }
        return selected
    }

    private func metrics() async -> ServiceReply {
        let snapshot = MetricsSnapshot(
            version: settings.version, workers: await process.workerMetrics(),
            identities: await identities.metrics(), process: .current(),
            reloads: await process.reloads(), droppedLogLines: process.droppedLogLines)
        let page = MetricsPage.render(snapshot, identityStates: IdentityState.allCases.map(\.rawValue))
        return .bytes(page, contentType: MetricsPage.contentType)
    }

    private func status() async -> StatusDocument {
        StatusDocument(
            version: settings.version, uptime: process.uptime, identities: await identities.statuses(),
            routes: settings.routes.map(\.status), requests: RequestCounts(await process.workerMetrics()),
            warnings: settings.warnings)
    }

    /// Carries out an action and answers with what has become of the identity.
    private func act(
        on identity: String, _ action: (String) async throws(TokenError) -> Void
    ) async throws(AdminError) -> ServiceReply {
        guard await identities.statuses().contains(where: { $0.name == identity }) else { throw .notFound }
        do throws(TokenError) {
            try await action(identity)
        } catch {
            throw .session(.token(error), of: identity)
        }
        guard let status = await identities.statuses().first(where: { $0.name == identity }) else {
            throw .notFound
        }
        return .json(status.json)
    }

    /// Carries out an action and answers with what it brought.
    private func report(
        on identity: String, _ action: (String) async throws(SessionFailure) -> JSONValue
    ) async throws(AdminError) -> ServiceReply {
        guard await identities.statuses().contains(where: { $0.name == identity }) else { throw .notFound }
        do throws(SessionFailure) {
            return .json(try await action(identity))
        } catch {
            throw .session(error, of: identity)
        }
    }

    /// Has an identity take over what a command began.
    private func take(_ body: [UInt8], for identity: String) async throws(AdminError) -> ServiceReply {
        guard let handover = (try? JSONValue(parsing: body)).flatMap(SessionHandover.init) else {
            throw .badBody
        }
        do throws(LoginError) {
            return .json(try await identities.take(handover, for: identity).json)
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
        guard settings.allowsQuit else { throw .notFound }
        await process.quit()
        return .json(["draining": true], status: 202)
    }
}
