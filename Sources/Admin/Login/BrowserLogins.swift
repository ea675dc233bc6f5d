// SPDX-License-Identifier: Apache-2.0

internal import BearerdAdminAPI
internal import BearerdHTTPMessages
internal import BearerdHTTPServer
internal import OAuth

/// Logins through the admin listener: it redirects a browser to the provider and receives the answer.
struct BrowserLogins: Sendable {
    /// The redirect URIs of the identities to which a browser can log in.
    let redirects: [String: RedirectURI]
    let pending: PendingLogins
    let identities: any IdentityDirectory
    /// The provider's name, by identity.
    var providers: [String: String] = [:]
    /// Receive the redirects that arrive at other addresses than the admin listener's.
    let receivers: any RedirectReceivers
    /// Decides whether those who began logins may still do so.
    let access: AdminAccess

    /// The query that marks a browser which was already redirected to another name of ours.
    private static let moved = "here"

    /// Returns true if a provider redirects browsers to this path.
    func expect(_ path: String) -> Bool { redirects.values.contains { $0.path == path } }

    // MARK: The way to the provider

    /// Redirects the browser to the provider.
    ///
    /// - Parameter right: the right by which somebody begins the login, which it needs until its end.
    func begin(
        _ identity: String, _ message: ServiceRequest, by right: OwnerRight
    ) async throws(AdminError) -> ServiceReply {
        guard let needsPerson = identities.needsPerson(identity) else {
            guard message.isOfPerson else { throw .noSuchIdentity(identity) }
            return LoginPages.unknown(
                identity, among: await identities.statuses().map(\.name), logins: Set(redirects.keys))
        }
        guard let uri = redirects[identity] else {
            return needsPerson ? LoginPages.onlyByCommand(identity) : LoginPages.needsNobody(identity)
        }
        if let other = otherName(for: uri, identity, message) { return other }
        if let wait = pending.pushes.take(for: identity) { return LoginPages.tooMany(identity, wait) }
        let request: AuthorizationRequest
        do throws(TokenFailure) {
            request = try await identities.beginLogin(identity, redirectURI: uri.description)
        } catch {
            if error.isBeforeSending { pending.pushes.giveBack(for: identity) }
            return await failed(.failed(error), identity)
        }
        if !request.isPushed { pending.pushes.giveBack(for: identity) }
        // It waits before its redirect is received: another one that ends meanwhile would have that given up.
        let cookie = pending.begin(request, of: identity, at: uri, by: right)
        do throws(LoginError) {
            try await receivers.open(for: identity)
        } catch {
            pending.withdraw(request)
            return await failed(error, identity)
        }
        var head = HTTPResponse(status: 303)
        head.fields[.location] = request.url
        head.fields[.setCookie] = cookie
        return ServiceReply(head: head)
    }

    /// Redirects a browser to the name to which it will return, because its cookie is for one host only.
    private func otherName(
        for uri: RedirectURI, _ identity: String, _ message: ServiceRequest
    ) -> ServiceReply? {
        guard let host = message.head.fields[.host], let here = HTTPURL("http://\(host)") else { return nil }
        guard here.host != uri.host, message.query != Self.moved else { return nil }
        let name = uri.host.contains(":") ? "[\(uri.host)]" : uri.host
        let path = "\(AdminResource.login(identity: identity).path)?\(Self.moved)"
        var head = HTTPResponse(status: 303)
        if !uri.isLoopback {
            head.fields[.location] = "\(uri.scheme.rawValue)://\(uri.hosts(port: uri.port)[0])\(path)"
        } else if here.isLoopback {
            // The redirect's port may be another one, where somebody passes it on.
            head.fields[.location] = "http://\(name):\(here.port)\(path)"
        } else {
            return LoginPages.unreachable(uri, from: host, identity)
        }
        return ServiceReply(head: head)
    }

    // MARK: The way back

    /// Takes the provider's answer from the browser, and finishes the login.
    func finish(_ message: ServiceRequest) async -> ServiceReply {
        switch pending.answer(message.query ?? "", message.head.fields) {
        case .over: return LoginPages.over(since: pending.startedAt)
        case .before:
            return LoginPages.before(since: pending.startedAt, identities(comingBackTo: message.path))
        case .otherBrowser: return LoginPages.otherBrowser
        case .refused(let error): return LoginPages.refused(error)
        case .ended(let login, let error):
            let page = LoginPages.ended(
                error, login.identity, at: providers[login.identity],
                hasSession: await hasSession(login.identity))
            return await forgetting(login, page)
        case .answered(let login, .refused(let refusal)):
            return await forgetting(login, await failed(.refused(refusal), login.identity))
        case .answered(let login, .granted(let code)):
            guard access.grants(login.right) else { return await forgetting(login, LoginPages.rightIsOver) }
            return await forgetting(login, await exchange(code, of: login.identity))
        }
    }

    private func identities(comingBackTo path: String) -> [String] {
        redirects.filter { $0.value.path == path }.keys.sorted()
    }

    private func exchange(_ code: AuthorizationCode, of identity: String) async -> ServiceReply {
        guard identities.needsPerson(identity) != nil else {
            return LoginPages.over(since: pending.startedAt)
        }
        do throws(LoginError) {
            // A store that takes no login before somebody has acted leaves the code unused.
            _ = try await identities.take(.inquiry, for: identity)
        } catch {
            return await failed(error, identity)
        }
        do throws(LoginError) {
            let report = try await identities.take(.code(code), for: identity)
            return LoginPages.done(report.login, identity, at: providers[identity])
        } catch .unstored(let trouble) where trouble != .outdated {
            return LoginPages.unstored(trouble, identity, at: providers[identity])
        } catch {
            return await failed(error, identity)
        }
    }

    private func failed(_ error: LoginError, _ identity: String) async -> ServiceReply {
        LoginPages.failed(
            .login(error), identity, at: providers[identity], hasSession: await hasSession(identity))
    }

    /// Returns true if the identity has a session that goes on without a login, whatever hinders its next token.
    private func hasSession(_ identity: String) async -> Bool {
        let status = await identities.statuses().first { $0.name == identity }
        return status.map { $0.state != .loginRequired && $0.generation > 0 } ?? false
    }

    /// Removes the cookie and the listener of a login that has ended.
    private func forgetting(_ login: PendingLogins.Login, _ reply: ServiceReply) async -> ServiceReply {
        await receivers.close(for: login.identity) { pending.has(login.identity) }
        var reply = reply
        reply.head.fields[.setCookie] = login.cookie.cleared
        return reply
    }
}
