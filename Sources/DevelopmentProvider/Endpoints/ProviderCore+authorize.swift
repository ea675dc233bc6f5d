// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdHTTPServer
import OAuth

extension ProviderCore {
    private static let sessionCookie = "bearerd_development_session"
    private static let sessionLifetime: Duration = .seconds(8 * 3600)
    private static let pendingLifetime: Duration = .seconds(600)
    private static let codeLifetime: Duration = .seconds(60)

    /// The authorization endpoint (RFC 6749 §3.1, OpenID Connect Core §3.1.2).
    mutating func authorize(_ request: ServiceRequest, at now: WallTime) throws(ProviderError) -> ServiceReply
    {
        let form: FormParameters
        do {
            form = try request.parameters()
        } catch {
            return problemPage(error.description)
        }
        // Nothing is sent to an address that is not known to be the client's (RFC 6749 §4.1.2.1).
        guard let client = knownClient(form[.clientID]) else {
            return problemPage("This client is not known.")
        }
        if let reference = form[.requestURI] {
            guard let wanted = takePushed(reference, of: client, at: now) else {
                return problemPage(
                    "This request is unknown, used or expired. Start again from where you came.")
            }
            return ask(for: wanted, request, at: now)
        }
        guard let redirectURI = form[.redirectURI], client.mayRedirect(to: redirectURI) else {
            return problemPage("This redirect URI is not registered for the client.")
        }
        do throws(ProviderError) {
            return ask(for: try pendingAuthorization(form, client, redirectURI), request, at: now)
        } catch {
            return refuse(error, redirectURI, form[.state])
        }
    }

    /// Asks the user to log in, unless the browser has a session.
    private mutating func ask(
        for wanted: PendingAuthorization, _ request: ServiceRequest, at now: WallTime
    ) -> ServiceReply {
        if let session = session(of: request, at: now), !wanted.prompt.contains("login") {
            return answer(wanted, for: session, at: now)
        }
        guard !wanted.prompt.contains("none") else {
            return refuse(
                ProviderError(.loginRequired, "nobody is logged in"), wanted.redirectURI, wanted.state)
        }
        return loginPage(pending.insert(wanted, for: ProviderCore.pendingLifetime, at: now))
    }

    /// The target of the login page's form.
    mutating func login(_ request: ServiceRequest, at now: WallTime) throws(ProviderError) -> ServiceReply {
        let form = try request.formParameters()
        let transaction = try form.required(.transaction)
        guard let wanted = pending.find(transaction, at: now) else {
            return problemPage("This login has expired. Start again from where you came.")
        }
        if form[.decision] == "cancel" {
            pending.remove(transaction)
            return refuse(ProviderError(.accessDenied, "the user said no"), wanted.redirectURI, wanted.state)
        }
        guard let user = user(form) else { return loginPage(transaction, hasFailed: true) }
        pending.remove(transaction)
        let session = BrowserSession(user: user.name, authenticatedAt: now)
        var reply = answer(wanted, for: session, at: now)
        let id = sessions.insert(session, for: ProviderCore.sessionLifetime, at: now)
        reply.head.fields.append(
            .setCookie, "\(ProviderCore.sessionCookie)=\(id); Path=/; HttpOnly; SameSite=Lax")
        return reply
    }

    /// The session of the requesting browser.
    func session(of request: ServiceRequest, at now: WallTime) -> BrowserSession? {
        request.cookie(ProviderCore.sessionCookie).flatMap { sessions.find($0, at: now) }
    }

    /// Ends the session of the requesting browser.
    mutating func forgetSession(of request: ServiceRequest) {
        if let id = request.cookie(ProviderCore.sessionCookie) { sessions.remove(id) }
    }

    /// The user whose name and password the form contains.
    func user(_ form: FormParameters) -> DevelopmentUser? {
        let password = Array((form[.password] ?? "").utf8)
        return settings.users.first { $0.name == form[.username] && $0.password.matches(password) }
    }

    /// A page for a person, for errors that cannot be reported to the client.
    func problemPage(_ problem: String) -> ServiceReply {
        .page(
            SmallPage(title: "This does not work", content: "<p class=\"problem\">\(problem)</p>"),
            status: 400
        )
    }

    /// Validates an authorization request.
    ///
    /// - Throws: the fault (RFC 6749 §4.1.2.1).
    func pendingAuthorization(
        _ form: FormParameters, _ client: DevelopmentClient, _ redirectURI: String
    ) throws(ProviderError) -> PendingAuthorization {
        guard form[.request] == nil else { throw ProviderError(.requestNotSupported, "no request objects") }
        guard try form.required(.responseType) == "code", form[.responseMode] ?? "query" == "query" else {
            throw ProviderError(.unsupportedResponseType, "only response_type=code with response_mode=query")
        }
        let challenge = try form.required(.codeChallenge)
        guard form[.codeChallengeMethod] == "S256", Base64URL.decode(challenge)?.count == 32 else {
            throw ProviderError(.invalidRequest, "code_challenge must be of method S256 (RFC 7636)")
        }
        return PendingAuthorization(
            clientID: client.id, redirectURI: redirectURI, state: form[.state],
            scope: try scope(form[.scope]),
            audience: audience(form), nonce: form[.nonce], codeChallenge: challenge,
            prompt: form[.prompt]?.split(separator: " ").map(String.init) ?? [],
            keyThumbprint: form[.keyThumbprint])
    }

    /// Redirects the browser to the client with a code (RFC 6749 §4.1.2).
    private mutating func answer(
        _ wanted: PendingAuthorization, for session: BrowserSession, at now: WallTime
    ) -> ServiceReply {
        let grant = AuthorizationGrant(
            family: SecureRandom.word(), clientID: wanted.clientID, subject: session.user,
            authenticatedAt: session.authenticatedAt, scope: wanted.scope, audience: wanted.audience,
            nonce: wanted.nonce, keyThumbprint: wanted.keyThumbprint)
        let code = codes.insert(
            CodeGrant(grant: grant, redirectURI: wanted.redirectURI, codeChallenge: wanted.codeChallenge),
            for: ProviderCore.codeLifetime, at: now)
        return .redirect(
            to: wanted.redirectURI, [(.code, code), (.state, wanted.state), (.issuer, settings.issuer)])
    }

    /// Redirects the browser to the client with an error (RFC 6749 §4.1.2.1).
    private func refuse(_ error: ProviderError, _ redirectURI: String, _ state: String?) -> ServiceReply {
        .redirect(
            to: redirectURI,
            [
                (.error, error.code.rawValue), (.errorDescription, error.description), (.state, state),
                (.issuer, settings.issuer),
            ])
    }

    private func loginPage(_ transaction: String, hasFailed: Bool = false) -> ServiceReply {
        let problem: HTMLText =
            hasFailed ? "<p class=\"problem\" role=\"alert\">Wrong name or password.</p>" : ""
        let page = SmallPage(
            title: "Log in",
            content: """
                \(problem)<form method="post" action="\(ProviderEndpoint.login.rawValue)">
                <input type="hidden" name="\(Parameter.transaction.rawValue)" value="\(transaction)">
                \(ProviderCore.credentialInputs)
                <button>Log in</button>
                <button name="\(Parameter.decision.rawValue)" value="cancel" formnovalidate>Cancel</button>
                </form>
                <p><small>Development provider. Try <code>alice</code> and <code>wonderland</code>.</small></p>
                """)
        return .page(page)
    }

    /// The inputs of a form for name and password.
    static let credentialInputs: HTMLText = """
        <label>Name <input name="\(Parameter.username.rawValue)" autocomplete="username" required autofocus></label>
        <label>Password <input name="\(Parameter.password.rawValue)" type="password"
        autocomplete="current-password" required></label>
        """
}
