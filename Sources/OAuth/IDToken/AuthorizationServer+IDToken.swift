// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages

/// Validation of ID tokens (OpenID Connect Core §3.1.3.7).
extension AuthorizationServer {
    /// Validates the ID token of a token response; a login with the scope `openid` must have one.
    ///
    /// The signature is not checked if the server publishes no keys, nor on a refresh while they cannot be had: the token
    /// came straight from the server (rule 6).
    ///
    /// - Parameter additions: the login's own scope and parameters.
    /// - Throws: ``TokenFailure`` of kind transient.
    func judgeIDToken(
        of response: TokenResponse, askedFor additions: LoginAdditions = LoginAdditions(),
        _ occasion: IDTokenRules.Occasion
    ) async throws(TokenFailure) {
        guard let compact = response.idToken else {
            let asked = additions.scope ?? configuration.loginScope
            guard case .login = occasion, response.hasOpenID(askedFor: asked) else { return }
            throw TokenFailure(.missing, from: name)
        }
        let asking = try additions.asked(of: configuration, in: \.authorizationParameters)
        let issuer = try await issuer()
        let token: IDToken
        do throws(IDTokenError) {
            token = try IDToken(parsing: compact)
            let rules = IDTokenRules(
                issuer: issuer, clientID: configuration.clientID, occasion: occasion,
                accessToken: response.accessToken, clockSkew: configuration.clockSkew, now: clock.wallNow,
                parameters: additions.checked ?? asking.authorizationParameters)
            try rules.check(token)
        } catch {
            throw TokenFailure(error, from: name)
        }
        guard configuration.profile?.algorithms.contains(token.signed.algorithm) ?? true else {
            throw TokenFailure(.badSignature(.algorithmNotAllowed), from: name)
        }
        if JWSAlgorithm.symmetric.contains(token.signed.algorithm) {
            return try await verifyWithSecret(token)
        }
        let flaw: JOSEError?
        do throws(TokenFailure) {
            flaw = try await publishedKeys.flaw(in: token.signed, fetchingWith: self)
        } catch {
            guard case .refresh = occasion else { throw error }
            return
        }
        if let flaw { throw TokenFailure(.badSignature(flaw), from: name) }
    }

    /// The issuer of the configuration or else of the metadata; nil if neither has one.
    private func issuer() async throws(TokenFailure) -> String? {
        if let issuer = configuration.issuer { return issuer }
        return configuration.discoveryURL == nil ? nil : try await metadata().issuer
    }

    /// Verifies a token that is signed with the client secret (rule 8).
    private func verifyWithSecret(_ token: IDToken) async throws(TokenFailure) {
        guard let secret = try await credentials.read(.clientSecret), !secret.isEmpty else {
            throw TokenFailure(.badSignature(.algorithmNotAllowed), from: name)
        }
        do throws(JOSEError) {
            try SigningKey(secret: secret, algorithm: token.signed.algorithm).verify(token.signed)
        } catch {
            throw TokenFailure(.badSignature(error), from: name)
        }
    }
}

extension TokenResponse {
    /// Returns true if `openid` was granted; a response without a scope grants the one that was asked for (RFC 6749 §5.1).
    fileprivate func hasOpenID(askedFor asked: [String]) -> Bool {
        (scope ?? asked).contains(Scope.openID)
    }
}

extension AuthorizationServer: KeyPublisher {
    func fetchKeys(from url: HTTPURL) async throws(TokenFailure) -> JSONWebKeySet {
        var request = TransferRequest(method: .get, url: url, timeLimit: configuration.tokenTimeLimit)
        request.fields.append(.accept, "application/json")
        let response = try await send(request)
        guard response.status == 200,
            let keys = try? JSONWebKeySet(parsing: response.body.withoutByteOrderMark)
        else {
            throw TokenFailure(
                response.status == 200 || response.isTemporary ? .transient : .misconfigured, .noKeys,
                detail: "what \(url.place) answers (\(response.status)) is no set of keys")
        }
        return keys
    }

    /// The `jwks_uri`; nil if the server publishes no keys.
    func keysURL() async throws(TokenFailure) -> HTTPURL? {
        if let configured = configuration.endpoints[.keys] { return configured }
        return try await metadataIfPublished()?.endpoints[.keys]
    }
}
