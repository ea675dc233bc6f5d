// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import OAuth
import OAuthRuntime

/// The sessions of one identity: one for each thing that its access tokens are asked for.
struct SessionGroup: Sendable {
    /// A session, and what it asks for.
    struct Member: Sendable {
        let client: ClientConfiguration
        let session: AuthSession
    }

    /// Never empty; what is said of the identity as a whole is said of the first.
    let members: [Member]

    let identity: IdentityConfiguration
    let transport: ProviderTransport

    var first: AuthSession { members[0].session }
    var name: String { first.identity }

    /// - Parameters:
    ///   - identity: whose they are.
    ///   - routes: of the whole configuration.
    ///   - known: of the configuration before, the same client by the same means: its sessions go on.
    ///   - transport: to the provider.
    ///   - make: makes a session.
    init(
        _ identity: IdentityConfiguration, routes: [RouteConfiguration], known: SessionGroup? = nil,
        transport: ProviderTransport, _ make: (ClientConfiguration) -> AuthSession
    ) {
        self.identity = identity
        self.transport = transport
        members = identity.clients(for: routes).map { client in
            let session = known?.members.first { $0.client.asks(likeThatOf: client) }?.session
            return Member(client: client, session: session ?? make(client))
        }
    }

    /// Whether another configuration leaves the sessions of the identity as they are.
    func goesOn(as other: IdentityConfiguration) -> Bool {
        identity.client.asks(likeThatOf: other.client) && identity.credentials == other.credentials
            && identity.transport == other.transport
    }

    /// The session whose token a route carries.
    func session(for target: TokenTarget?, of identity: IdentityConfiguration) -> AuthSession {
        let wanted = target.map(identity.client.aimed) ?? identity.client
        return members.first { $0.client == wanted }?.session ?? first
    }

    /// Has the provider make a client for the identity.
    func register() async throws(SessionFailure) -> ClientRegistration {
        try await first.register(redirectURI: identity.redirectURI.registered)
    }

    /// What may be shown of the identity.
    func status() async -> IdentityStatus {
        var statuses: [(ClientConfiguration, IdentityStatus)] = []
        for member in members { statuses.append((member.client, await member.session.status)) }
        return IdentityStatus(of: statuses)
    }
}

extension ClientConfiguration {
    /// Whether the token requests of both are the same; what only a login asks for plays no part.
    fileprivate func asks(likeThatOf other: ClientConfiguration) -> Bool {
        var (one, another) = (self, other)
        one.furtherResources = []
        another.furtherResources = []
        return one == another
    }
}

extension IdentityStatus {
    /// The status of an identity whose access tokens have these; the first is the one of the whole.
    init(of statuses: [(ClientConfiguration, IdentityStatus)]) {
        let advised = statuses.map { ($0.0, $0.1.advised) }
        self = advised[0].1
        guard statuses.count > 1 else { return }
        tokens = advised.map { client, status in TokenStatus(of: status, asking: client) }
        summarizeTokens()
    }

    /// This status; where only a login mends it, its error says so.
    private var advised: IdentityStatus {
        var status = self
        let isForPerson = state == .loginRequired || lastError?.code == IdentityError.scopeChanged
        if isForPerson { status.lastError?.detail += "; \(LoginAdvice.text(for: name))" }
        return status
    }
}

extension IdentityConfiguration {
    /// What to ask for: the identity's own unless every route that names it wants something else.
    ///
    /// A session that a person begins has the identity's own always, because that is what a login brings.
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
