// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPServer
import BearerdJSON
import OAuth

extension ProviderCore {
    private static let refreshTokenLifetime: Duration = .seconds(30 * 86_400)

    /// Issues the tokens of a grant (RFC 6749 §5.1).
    ///
    /// - Parameters:
    ///   - grant: the rights of the tokens.
    ///   - hasRefreshToken: true to issue a refresh token too.
    ///   - now: the civil time.
    /// - Returns: the token endpoint's response.
    mutating func issueTokens(
        for grant: AuthorizationGrant, refreshable hasRefreshToken: Bool, at now: WallTime
    ) -> ServiceReply {
        var answer: JSONObject = [:]
        guard let accessToken = sign(accessTokenClaims(for: grant, at: now), type: "at+jwt") else {
            return .plain(status: 500)
        }
        answer[.accessToken] = .string(accessToken)
        answer[.tokenType] = grant.keyThumbprint == nil ? "Bearer" : "DPoP"
        answer[.expiresIn] = .integer(settings.accessTokenLifetime.components.seconds)
        answer[.scope] = .string(grant.scope.joined(separator: " "))
        if hasRefreshToken {
            let refresh = refreshTokens.insert(
                RefreshGrant(grant: grant), for: ProviderCore.refreshTokenLifetime, at: now)
            answer[.refreshToken] = .string(refresh)
        }
        if grant.authenticatedAt != nil, grant.scope.contains("openid") {
            answer[.idToken] = sign(idTokenClaims(for: grant, at: now), type: "JWT").map(JSONValue.string)
        }
        return .json(answer)
    }

    /// Revokes every token of one login.
    mutating func revokeFamily(_ family: String, at now: WallTime) {
        revoked.insert((), as: family, for: ProviderCore.refreshTokenLifetime, at: now)
    }

    /// Returns true if a token with these claims was revoked, alone or with its login.
    func isRevoked(_ claims: JSONObject, at now: WallTime) -> Bool {
        [claims[.tokenID], claims[.sessionID]].contains { name in
            name?.string.map { revoked.find($0, at: now) != nil } ?? false
        }
    }

    /// Parses a scope (RFC 6749 §3.3).
    ///
    /// - Throws: `invalid_scope` for characters that a scope cannot have.
    func scope(_ text: String?) throws(ProviderError) -> [String] {
        let tokens = (text ?? "").split(separator: " ").map(String.init)
        for token in tokens {
            let isValid = token.utf8.allSatisfy { 0x21...0x7E ~= $0 && $0 != 0x22 && $0 != 0x5C }
            guard isValid else {
                throw ProviderError(.invalidScope, "the scope has characters that are not allowed")
            }
        }
        var seen: Set<String> = []
        return tokens.filter { seen.insert($0).inserted }
    }

    /// The audience of the tokens: the request's (RFC 8707 §2), else the sample API.
    func audience(_ form: FormParameters) -> [String] {
        let asked = form.all(.resource) + [form[.audience]].compactMap { $0 }
        return asked.isEmpty ? [settings.audience] : asked
    }

    /// The claims of an access token (RFC 9068 §2.2).
    private func accessTokenClaims(for grant: AuthorizationGrant, at now: WallTime) -> JSONObject {
        var claims: JSONObject = [:]
        claims[.issuer] = .string(settings.issuer)
        claims[.subject] = .string(grant.subject)
        claims[.audience] = grant.audience.count == 1 ? .string(grant.audience[0]) : .strings(grant.audience)
        claims[.clientID] = .string(grant.clientID)
        claims[.scope] = .string(grant.scope.joined(separator: " "))
        claims[.issuedAt] = .integer(now.secondsSinceEpoch)
        claims[.expiry] = .integer((now + settings.accessTokenLifetime).secondsSinceEpoch)
        claims[.tokenID] = .string(SecureRandom.word(bytes: 16))
        claims[.sessionID] = .string(grant.family)
        claims[.authenticationTime] = grant.authenticatedAt.map { .integer($0.secondsSinceEpoch) }
        claims[.confirmation] = grant.keyThumbprint.map {
            .object([Member.keyThumbprint.rawValue: .string($0)])
        }
        return claims
    }

    /// The claims of an id token (OpenID Connect Core §2).
    private func idTokenClaims(for grant: AuthorizationGrant, at now: WallTime) -> JSONObject {
        var claims: JSONObject = [:]
        claims[.issuer] = .string(settings.issuer)
        claims[.subject] = .string(grant.subject)
        claims[.audience] = .string(grant.clientID)
        claims[.issuedAt] = .integer(now.secondsSinceEpoch)
        claims[.expiry] = .integer((now + settings.accessTokenLifetime).secondsSinceEpoch)
        claims[.authenticationTime] = grant.authenticatedAt.map { .integer($0.secondsSinceEpoch) }
        claims[.nonce] = grant.nonce.map(JSONValue.string)
        claims[.sessionID] = .string(grant.family)
        return claims
    }

    private func sign(_ claims: JSONObject, type: String) -> String? {
        try? key.sign(claims.serialized(), type: type)
    }
}
