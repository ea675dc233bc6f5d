// SPDX-License-Identifier: Apache-2.0

import Cryptography
import HTTPMessages

/// Whether an id token is the server's, and ours.
extension AuthorizationServer {
    /// Judges the id token that came with `grant`; with a login whose scope has `openid` one must have come.
    ///
    /// Where the server publishes no keys the signature is not looked at, nor on a refresh where they cannot be had:
    /// the token came straight from the server (OpenID Connect Core §3.1.3.7, rule 6).
    ///
    /// - Parameters:
    ///   - grant: what came.
    ///   - additions: what it was asked for that the configuration does not ask for.
    ///   - occasion: what it came with.
    /// - Throws: ``TokenFailure`` of kind transient.
    func judgeIDToken(
        of grant: TokenGrant, askedFor additions: LoginAdditions = LoginAdditions(),
        _ occasion: IDTokenRules.Occasion
    ) async throws(TokenFailure) {
        guard let compact = grant.idToken else {
            let asked = additions.scope ?? configuration.loginScope
            guard case .login = occasion, grant.hasOpenID(askedFor: asked) else { return }
            throw TokenFailure(.missing, from: name)
        }
        let asking = try additions.asked(of: configuration, in: \.authorizationParameters)
        let issuer = try await issuer()
        let token: IDToken
        do throws(IDTokenError) {
            token = try IDToken(parsing: compact)
            let rules = IDTokenRules(
                issuer: issuer, clientID: configuration.clientID, occasion: occasion,
                accessToken: grant.accessToken, clockSkew: configuration.clockSkew, now: clock.wallNow,
                parameters: asking.authorizationParameters)
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

    /// Who the server is: as configured, else as its metadata say; nil where neither is to be had.
    private func issuer() async throws(TokenFailure) -> String? {
        if let issuer = configuration.issuer { return issuer }
        return configuration.discoveryURL == nil ? nil : try await metadata().issuer
    }

    /// A client with a secret may have its tokens signed with it (rule 8).
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

extension TokenGrant {
    /// Whether OpenID Connect's scope was granted; what the answer does not tell is what was asked for
    /// (RFC 6749 §5.1).
    fileprivate func hasOpenID(askedFor asked: [String]) -> Bool {
        (scope ?? asked).contains(ClientConfiguration.openID)
    }
}
