// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdJSON
import OAuth

extension ProviderCore {
    /// The userinfo endpoint (OpenID Connect Core §5.3).
    mutating func userinfo(_ request: ServiceRequest, at now: WallTime) -> ServiceReply {
        let claims: JSONObject
        do throws(BearerRefusal) {
            let presented = try PresentedToken(of: request)
            claims = try self.claims(of: presented, at: now)
            try proofs.check(
                presented, with: claims, of: request,
                to: settings.issuer + ProviderEndpoint.userinfo.rawValue,
                at: now)
        } catch {
            return error.reply
        }
        let scope = claims[.scope]?.string?.split(separator: " ") ?? []
        guard scope.contains("openid"), let name = claims[.subject]?.string,
            let user = settings.users.first(where: { $0.name == name })
        else { return BearerRefusal.insufficientScope("openid").reply }
        var answer: JSONObject = [:]
        answer[.subject] = .string(user.name)
        if scope.contains("profile") {
            answer[.name] = .string(user.fullName)
            answer[.preferredUsername] = .string(user.name)
        }
        if scope.contains("email") {
            answer[.email] = .string(user.email)
            answer[.emailVerified] = true
        }
        return .json(answer)
    }

    private func claims(of presented: PresentedToken, at now: WallTime) throws(BearerRefusal) -> JSONObject {
        let verifier = DevelopmentTokenVerifier(issuer: settings.issuer, keys: publicKeys) {
            isRevoked($0, at: now)
        }
        return try verifier.claims(of: presented, at: now)
    }

    /// The end-session endpoint (OpenID Connect RP-Initiated Logout §2).
    mutating func endSession(
        _ request: ServiceRequest, at now: WallTime
    ) throws(ProviderError) -> ServiceReply {
        let form = try request.parameters()
        let hint = idToken(form[.idTokenHint])
        guard form[.idTokenHint] == nil || hint != nil else {
            return problemPage("The id_token_hint is not ours.")
        }
        let clientID = hint?[.audience]?.string ?? form[.clientID]
        guard form[.clientID] ?? clientID == clientID else {
            return problemPage("The id_token_hint belongs to another client.")
        }
        let target = form[.postLogoutRedirectURI]
        if let target, knownClient(clientID)?.mayRedirect(to: target) != true {
            return problemPage("This post_logout_redirect_uri is not registered for the client.")
        }
        // Without a hint anybody could have sent the browser here: ask (§2).
        guard let hint else {
            let isConfirmed = request.head.method == .post && form[.decision] == "logout"
            if session(of: request, at: now) != nil, !isConfirmed { return logoutPage(form) }
            forgetSession(of: request)
            return loggedOut(target, form[.state])
        }
        hint[.sessionID]?.string.map { revokeFamily($0, at: now) }
        forgetSession(of: request)
        return loggedOut(target, form[.state])
    }

    private func loggedOut(_ target: String?, _ state: String?) -> ServiceReply {
        guard let target else {
            return .page(SmallPage(title: "Logged out", content: "<p>You can close this page.</p>"))
        }
        return .redirect(to: target, [(.state, state)])
    }

    private func logoutPage(_ form: FormParameters) -> ServiceReply {
        var inputs: HTMLText = ""
        for parameter in [Parameter.clientID, .postLogoutRedirectURI, .state] {
            guard let value = form[parameter] else { continue }
            inputs = """
                \(inputs)<input type="hidden" name="\(parameter.rawValue)" value="\(value)">
                """
        }
        let page = SmallPage(
            title: "Log out?",
            content: """
                <form method="post" action="\(ProviderEndpoint.endSession.rawValue)">\(inputs)
                <button name="\(Parameter.decision.rawValue)" value="logout">Log out</button></form>
                """)
        return .page(page)
    }

    /// The claims of an id token that this provider issued, expired or not; nil for any other text.
    private func idToken(_ text: String?) -> JSONObject? {
        guard let text, let token = try? JWS(compact: text), (try? publicKeys.verify(token)) != nil,
            token.type == "JWT", let claims = token.claims, claims[.issuer]?.string == settings.issuer
        else { return nil }
        return claims
    }
}
