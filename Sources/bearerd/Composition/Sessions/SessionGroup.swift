// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import OAuth
import OAuthRuntime

/// The sessions of one identity, one for each token target.
struct SessionGroup: Sendable {
    /// A session, with the client configuration of its target.
    struct Member: Sendable {
        let client: ClientConfiguration
        let session: AuthSession
    }

    /// The sessions, never empty; the first one stands for the identity as a whole.
    let members: [Member]

    let identity: IdentityConfiguration
    let transport: ProviderTransport
    /// The status page, where no command can help.
    private let page: String?

    var first: AuthSession { members[0].session }
    var name: String { first.identity }

    /// - Parameters:
    ///   - identity: the identity.
    ///   - routes: the routes of the whole configuration.
    ///   - known: the group of the previous configuration if client and transport are the same; its sessions
    ///     are kept.
    ///   - transport: the transport to the provider.
    ///   - page: the status page, where no command can help.
    ///   - make: makes a session, beside one that has the same refresh token if there is one.
    init(
        _ identity: IdentityConfiguration, routes: [RouteConfiguration], known: SessionGroup? = nil,
        transport: ProviderTransport, page: String? = nil,
        _ make: (ClientConfiguration, _ other: AuthSession?) -> AuthSession
    ) {
        self.page = page
        self.identity = identity
        self.transport = transport
        let clients = identity.clients(for: routes)
        let kept = clients.map { client in
            known?.members.first { $0.client.asks(likeThatOf: client) }?.session
        }
        var other = kept.lazy.compactMap(\.self).first
        members = zip(clients, kept).map { client, session in
            let session = session ?? make(client, other)
            other = other ?? session
            return Member(client: client, session: session)
        }
    }

    /// Returns true if another configuration leaves the identity's sessions unchanged.
    func goesOn(as other: IdentityConfiguration) -> Bool {
        identity.client.asks(likeThatOf: other.client) && identity.credentials == other.credentials
            && identity.transport == other.transport
    }

    /// The session whose token a route adds.
    func session(for target: TokenTarget?, of identity: IdentityConfiguration) -> AuthSession {
        let wanted = target.map(identity.client.aimed) ?? identity.client
        return members.first { $0.client == wanted }?.session ?? first
    }

    /// Registers a client for the identity at the provider.
    func register() async throws(SessionFailure) -> ClientRegistration {
        try await first.register(redirectURI: identity.redirectURI.registered)
    }

    func status() async -> SessionStatus {
        var statuses: [(ClientConfiguration, SessionStatus)] = []
        for member in members { statuses.append((member.client, await member.session.status)) }
        return SessionStatus(of: statuses, page: page)
    }
}

extension ClientConfiguration {
    /// Returns true if the token requests of both are the same; settings of logins are ignored.
    fileprivate func asks(likeThatOf other: ClientConfiguration) -> Bool {
        var (one, another) = (self, other)
        one.furtherResources = []
        another.furtherResources = []
        return one == another
    }
}

extension SessionStatus {
    /// Combines the statuses of an identity's sessions; the first one stands for the whole.
    ///
    /// - Parameter page: the status page, where no command can help.
    init(of statuses: [(ClientConfiguration, SessionStatus)], page: String? = nil) {
        let advised = statuses.map { ($0.0, $0.1.advised(page)) }
        self = advised[0].1
        guard statuses.count > 1 else { return }
        tokens = advised.map { client, status in TokenStatus(of: status, asking: client) }
        nextRequest = advised.compactMap(\.1.nextRequest).min()
        summarizeTokens()
    }

    /// This status, with the advice to log in if only a login helps.
    private func advised(_ page: String?) -> SessionStatus {
        var status = self
        let isForPerson = state == .loginRequired || lastError?.isFailure == false
        if isForPerson { status.lastError?.detail += "; \(LoginAdvice.text(for: name, at: page))" }
        return status
    }
}

extension IdentityConfiguration {
    /// The client configurations for which sessions are needed: the identity's own, unless all its routes
    /// want other targets.
    ///
    /// A session that a person begins always has the identity's own, because that is what a login brings.
    func clients(for routes: [RouteConfiguration]) -> [ClientConfiguration] {
        let wanted = routes.filter { $0.identity == name }.map { route in
            route.target.map(client.aimed) ?? client
        }
        var clients = client.grantType.needsPerson || wanted.isEmpty ? [client] : []
        if wanted.contains(client), clients.isEmpty { clients = [client] }
        for one in wanted where !clients.contains(one) { clients.append(one) }
        return clients
    }
}
