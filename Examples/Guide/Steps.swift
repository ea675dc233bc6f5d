// SPDX-License-Identifier: Apache-2.0
//
// Made by Examples/Guide/generate from the articles and doc comments; the check makes it anew and compares.

import Foundation
import FoundationNetworking
import OAuthFoundation
import OAuthRuntime
import SessionImport
import StoreConformance

/// What the steps take for granted.
struct Steps {
    let runtime: AuthRuntime
    let session: AuthSession
    let flow: AuthorizationFlow
    let url: String
    let orders: URL
    let store: any SessionStore
    let old: ImportedSession
    let service: ServiceConfiguration
    let bytes: [UInt8]
    let outcome: LogoutOutcome
    let readSecret: @Sendable () -> String
    let randomText: @Sendable () -> String
    let openStore: @Sendable () throws -> any SessionStore
    let call: @Sendable ([NamedValue]) async throws -> ResourceResponse<String>
    let show: @MainActor @Sendable (String) async -> Void
    let open: @Sendable (String) -> Void
    let save: @Sendable (Secret) -> Void
}

extension Steps {
    func step1(client: inout ClientConfiguration) async throws {
        let runtime = try AuthRuntime(storage: .directory("/var/lib/my-program"))
        _ = runtime
    }

    func step2() async throws {
        var client = ClientConfiguration(name: "default", clientID: "my-program", grantType: .authorizationCode)
        client.issuer = "https://sso.example.com/realms/demo"
        client.scope = [Scope.openID, Scope.profile, Scope.offlineAccess]
        let session = try await runtime.open(client)
        _ = client
        _ = session
    }

    func step3(client: inout ClientConfiguration) async throws {
        let service = try await ServiceConfiguration.discover(for: client, over: runtime.transport())
        print(service.issuer, service.endpoints[.userinfo]?.description ?? "no userinfo")
        _ = service
    }

    func step4(client: inout ClientConfiguration) async throws {
        let found = ClientConfiguration(name: "default", clientID: "my-program", service: service)
        _ = found
    }

    func step5(client: inout ClientConfiguration) async throws {
        var manual = ClientConfiguration(
            name: "default", clientID: "my-program", authorizationEndpoint: "https://sso.example.com/authorize",
            tokenEndpoint: "https://sso.example.com/token")
        manual?.set(.userinfo, to: "https://sso.example.com/userinfo")
        _ = manual
    }

    func step6(client: inout ClientConfiguration) async throws {
        client.authentication = .basic
        let confidential = try runtime.session(for: client) { $0 == .clientSecret ? readSecret() : nil }
        _ = confidential
    }

    func step7(client: inout ClientConfiguration) async throws {
        var settings = ConnectionSettings(caFile: "/etc/ssl/private-ca.pem")
        settings.proxy = .environment
        let inside = try runtime.session(for: client, connecting: settings)
        _ = settings
        _ = inside
    }

    func step8(client: inout ClientConfiguration) async throws {
        let login = try await runtime.logIn(session) { url in open(url) }
        print(login.personName ?? "somebody")
        _ = login
    }

    func step9(client: inout ClientConfiguration) async throws {
        try await runtime.logIn(
            session, scope: [Scope.openID, "calendar"], adding: [NamedValue("prompt", "consent")]
        ) { url in open(url) }
    }

    func step10(client: inout ClientConfiguration) async throws {
        let flow = try await session.authorizationFlow(redirectURI: "com.example.app:/oauth2redirect")
        open(flow.url)

        // Where the system hands the program a URL:
        try await session.logIn(with: flow.response(to: url))
        _ = flow
    }

    func step11(client: inout ClientConfiguration) async throws {
        let own = try await session.authorizationRequest(
            redirectURI: "com.example.app:/oauth2redirect", state: Secret(randomText()), nonce: Secret(randomText()))
        print(own.clientID, own.scope)
        _ = own
    }

    func step12(client: inout ClientConfiguration) async throws {
        switch try flow.response(to: url) {
        case .granted(let code):
            try await session.logIn(with: code, adding: [NamedValue("tenant", "blue")])
        case .refused(let refusal):
            print(refusal.code?.rawValue ?? "refused", refusal.description ?? "", refusal.page ?? "")
        }
    }

    func step13(client: inout ClientConfiguration) async throws {
        let device = try await session.authorizeDevice()
        print("Visit \(device.verificationURI) and type \(device.userCode)")
        try await session.logIn(with: device)
        _ = device
    }

    func step14(client: inout ClientConfiguration) async throws {
        var request = TokenRequest(grantType: GrantType(rawValue: "urn:example:grant-type:otp"))
        request.secrets = [("otp", Secret("271828"))]
        try await session.logIn(with: request)
        _ = request
    }

    func step15(client: inout ClientConfiguration) async throws {
        for await state in session.states where state == .loginRequired {
            print("somebody must log in")
        }
    }

    func step16(client: inout ClientConfiguration) async throws {
        let subject = try await session.withFreshTokens { tokens in
            // `tokens.accessToken` for the API, `tokens.idToken` for who it is.
            tokens.idToken.flatMap { IDToken($0) }?.subject
        }
        _ = subject
    }

    func step17(client: inout ClientConfiguration) async throws {
        let (body, response) = try await session.data(for: URLRequest(url: orders))
        print(response.statusCode, body.count)
    }

    func step18(client: inout ClientConfiguration) async throws {
        let answer = try await session.authorized("https://api.example.com/orders") { credentials in
            try await call(credentials.headers)
        }
        _ = answer
    }

    func step19(client: inout ClientConfiguration) async throws {
        await session.setNeedsTokenRefresh()
        try await session.refresh()
        try await session.refresh(scope: ["orders.read"], adding: [NamedValue("tenant", "blue")])
    }

    func step20(client: inout ClientConfiguration) async throws {
        let userinfo = try await session.userinfo()
        _ = try await session.revoke([.accessToken])
        let outcome = await session.logOut()
        if let request = outcome.request { open(request.url) }
        _ = userinfo
        _ = outcome
    }

    func step21(client: inout ClientConfiguration) async throws {
        if let request = outcome.request { request.urlWithIDTokenHint.withPlaintext { open($0) } }
    }

    func step22(client: inout ClientConfiguration) async throws {
        let ending = await session.logOut(returningTo: "com.example.app:/bye", state: "of-this-logout")
        if ending.request?.isAnswered(by: url) == true { print("logged out") }
        _ = ending
    }

    func step23(client: inout ClientConfiguration) async throws {
        let registration = try await session.register(redirectURI: "http://127.0.0.1:0/callback")
        print(registration.clientID, registration.additionalParameters.number("client_id_issued_at") ?? 0)
        _ = registration
    }

    func step24(client: inout ClientConfiguration) async throws {
        let shown = try await runtime.logIn(session) { @MainActor url in await show(url) }
        _ = shown
    }

    func step25(client: inout ClientConfiguration) async throws {
        do {
            _ = try await session.perform(TokenRequest(grantType: .clientCredentials))
        } catch {
            switch error.domain {
            case .token(let grant): print("refused for \(grant.rawValue)", error.errorURI ?? "")
            default: print(error)
            }
        }
    }

    func step26(client: inout ClientConfiguration) async throws {
        var google = ClientConfiguration.google(name: "default", clientID: "my-program.apps.googleusercontent.com")
        google.scope = [Scope.openID, Scope.profile]
        _ = google
    }

    func step27(client: inout ClientConfiguration) async throws {
        let okta = ClientConfiguration(
            .okta, name: "default", clientID: "0oa1example", issuer: "https://example.okta.com/oauth2/default")
        _ = okta
    }

    func step28(client: inout ClientConfiguration) async throws {
        let ofUser = try AuthRuntime(storage: .keyring("/var/lib/my-program", name: "my-program"))
        let encrypted = try AuthRuntime(storage: .encryptedDirectory("/var/lib/my-program", key: Secret(readSecret())))
        _ = ofUser
        _ = encrypted
    }

    func step29(client: inout ClientConfiguration) async throws {
        _ = await session.logOut(onlyHere: true)
    }

    func step30(client: inout ClientConfiguration) async throws {
        let custom = try AuthRuntime(storage: .custom(store))
        let violations = await SessionStoreConformance { store }.violations()
        _ = custom
        _ = violations
    }

    func step31(client: inout ClientConfiguration) async throws {
        let old = try ImportFormat.gtmOAuth2.parse(bytes)
        try await session.take(
            old.refreshToken, scope: old.scope, clientID: "the-old-client",
            person: Person(id: old.userID, email: old.userEmail, isEmailVerified: old.isEmailVerified))
        _ = old
    }

    func step32(client: inout ClientConfiguration) async throws {
        if let token = await session.refreshToken, var session = ImportedSession(refreshToken: token) {
            session.userEmail = old.userEmail
            save(session.gtmOAuth2String)
        }
    }

    func step33() async throws {

        var client = ClientConfiguration(name: "default", clientID: "my-program", grantType: .authorizationCode)
        client.issuer = "https://sso.example.com/realms/demo"
        client.scope = ["openid", "offline_access"]

        let runtime = try AuthRuntime(storage: .directory("/var/lib/my-program"))
        let session = try await runtime.open(client)
        if await session.needsLogin {
            try await runtime.logIn(session) { url in print("Visit \(url)") }
        }
        let answer = try await session.authorized("https://api.example.com/orders") { credentials in
            // makes a request with these header fields
            try await call(credentials.headers)
        }
        _ = client
        _ = runtime
        _ = session
        _ = answer
    }

    func step34(client: inout ClientConfiguration) async throws {
        client.proofs = .whereOffered
    }

    func step35(client: inout ClientConfiguration) async throws {
        let answer = try await session.authorized("https://api.example.com/orders") { credentials in
            let answer = try await call(credentials.headers)
            return ResourceResponse(
                status: answer.status, challenges: answer.challenges, nonce: answer.nonce, value: answer.value)
        }
        _ = answer
    }

    func step36(client: inout ClientConfiguration) async throws {
        let rules = AccessTokenRules(issuer: "https://sso.example.com/realms/demo", audience: "https://api.example.com")
        let verifier = try runtime.verifier(for: rules)

        let request = ResourceRequest(
            method: "GET", url: "https://api.example.com/orders", authorization: ["Bearer …"])
        do {
            let token = try await verifier.verify(request, requiring: ["orders:read"])
            print(token.subject ?? "", token.scope)
        } catch {
            print(error.status, error.challenge(realm: "orders") ?? "")
        }
        _ = rules
        _ = verifier
        _ = request
    }

    func step37(client: inout ClientConfiguration) async throws {
        let flow = try await session.authorizationFlow(redirectURI: "com.example.app:/oauth2redirect")
        open(flow.url)
        // … and when the system hands a URL over:
        let login = try await session.logIn(with: flow.response(to: url))
        _ = flow
        _ = login
    }

    func step38(client: inout ClientConfiguration) async throws {
        let answer = try await session.authorized("https://api.example.com/orders") { credentials in
            try await call(credentials.headers)
        }
        _ = answer
    }

    func step39(client: inout ClientConfiguration) async throws {
        var request = TokenRequest(grantType: GrantType(rawValue: "urn:example:grant-type:otp"))
        request.parameters = [NamedValue("device", "blue")]
        request.secrets = [("otp", Secret("271828"))]
        try await session.logIn(with: request)
        _ = request
    }

    func step40() async throws {

        let runtime = try AuthRuntime(storage: .directory("/var/lib/my-program"))
        var client = ClientConfiguration(name: "default", clientID: "my-program", grantType: .authorizationCode)
        client.issuer = "https://sso.example.com/realms/demo"
        let session = try await runtime.open(client)
        if await session.needsLogin {
            try await runtime.logIn(session) { url in print("Visit \(url)") }
        }
        _ = runtime
        _ = client
        _ = session
    }

    func step41() async throws {
        let runtime = try AuthRuntime(storage: .directory("/var/lib/my-program"))
        var client = ClientConfiguration(name: "default", clientID: "my-program", grantType: .authorizationCode)
        client.issuer = "https://sso.example.com/realms/demo"
        let session = try await runtime.open(client)
        _ = runtime
        _ = client
        _ = session
    }

    func step42(client: inout ClientConfiguration) async throws {
        let (body, response) = try await session.data(for: URLRequest(url: orders))
        print(response.statusCode, body.count)
    }

    func step43(client: inout ClientConfiguration) async throws {
        let session = try await runtime.open(client, over: URLSessionTransport())
        _ = session
    }

    func step44(client: inout ClientConfiguration) async throws {
        struct Claims: Decodable {
            let sub: String
            let groups: [String]?
            let exp: Date
        }
        let claims = try await session.withFreshTokens { tokens in
            try tokens.idToken.flatMap { IDToken($0) }?.decoded(as: Claims.self)
        }
        _ = claims
    }

    func step45(client: inout ClientConfiguration) async throws {
        if let expiry = await session.status.expiresAt { print(Date(expiry)) }
        let flow = try await session.authorizationFlow(redirectURI: orders)
        if let page = flow.browserURL { print("Visit \(page)") }
        _ = flow
    }

    func step46(client: inout ClientConfiguration) async throws {

        let old = try ImportFormat.gtmOAuth2.parse(bytes)
        try await session.take(
            old.refreshToken, idToken: old.idToken, scope: old.scope, clientID: old.clientID, issuer: old.issuer)
        _ = old
    }

    func step47(client: inout ClientConfiguration) async throws {

        // In a test of whatever framework: throws an error that names what is broken.
        try await SessionStoreConformance { try openStore() }.verify()
    }

    func step48(client: inout ClientConfiguration) async throws {
        let conformance = SessionStoreConformance { try openStore() }
        for violation in await conformance.violations() { print(violation) }
        _ = conformance
    }

}
