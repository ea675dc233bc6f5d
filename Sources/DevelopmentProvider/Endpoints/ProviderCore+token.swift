// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPServer
import BearerdJSON
import OAuth

extension ProviderCore {
    /// The token endpoint (RFC 6749 §3.2).
    mutating func token(_ request: ServiceRequest, at now: WallTime) throws(ProviderError) -> ServiceReply {
        let form = try request.formParameters()
        let client = try authenticatedClient(request, form)
        let key = try provenKey(request, at: .token, now)
        switch GrantType(rawValue: try form.required(.grantType)) {
        case .clientCredentials: return try clientCredentials(form, client, key, at: now)
        case .refreshToken: return try refresh(form, client, key, at: now)
        case .authorizationCode: return try redeemCode(form, client, key, at: now)
        case .deviceCode: return try redeemDeviceCode(form, client, key, at: now)
        default: throw ProviderError(.unsupportedGrantType, "this provider has no such grant")
        }
    }

    /// The thumbprint of the key that the request proves to have; nil without a proof.
    mutating func provenKey(
        _ request: ServiceRequest, at endpoint: ProviderEndpoint, _ now: WallTime
    ) throws(ProviderError) -> String? {
        do throws(ProofError) {
            return try proofs.thumbprint(of: request, to: settings.issuer + endpoint.rawValue, at: now)
        } catch {
            throw ProviderError(.invalidDPoPProof, error.reason)
        }
    }

    /// Grants client credentials (RFC 6749 §4.4), without a refresh token as §4.4.3 asks.
    private mutating func clientCredentials(
        _ form: FormParameters, _ client: DevelopmentClient, _ key: String?, at now: WallTime
    ) throws(ProviderError) -> ServiceReply {
        guard client.secret != nil else {
            throw ProviderError(.unauthorizedClient, "a public client has no credentials")
        }
        let grant = AuthorizationGrant(
            family: SecureRandom.word(), clientID: client.id, subject: client.id,
            scope: try scope(form[.scope]),
            audience: audience(form), keyThumbprint: key)
        return issueTokens(for: grant, refreshable: false, at: now)
    }

    /// Refreshes tokens (RFC 6749 §6), with rotation (RFC 9700 §4.14.2).
    private mutating func refresh(
        _ form: FormParameters, _ client: DevelopmentClient, _ key: String?, at now: WallTime
    ) throws(ProviderError) -> ServiceReply {
        let refusal = ProviderError(.invalidGrant, "the refresh token is unknown, expired, used or revoked")
        let token = try form.required(.refreshToken)
        guard var known = refreshTokens.find(token, at: now), known.grant.clientID == client.id else {
            throw refusal
        }
        guard !known.isUsed else {
            // Two have it, and one of them is a thief: neither keeps it.
            revokeFamily(known.grant.family, at: now)
            throw refusal
        }
        guard revoked.find(known.grant.family, at: now) == nil else { throw refusal }
        // A client that proves who it is may change its key (RFC 9449 §5).
        guard client.secret != nil || known.grant.keyThumbprint == nil || known.grant.keyThumbprint == key
        else { throw refusal }
        var grant = known.grant
        grant.keyThumbprint = key
        if form[.scope] != nil {
            grant.scope = try scope(form[.scope])
            guard Set(grant.scope).isSubset(of: known.grant.scope) else {
                throw ProviderError(.invalidScope, "the scope is wider than what was granted")
            }
        }
        known.isUsed = true
        refreshTokens.update(token, known)
        return issueTokens(for: grant, refreshable: true, at: now)
    }

    /// Redeems an authorization code (RFC 6749 §4.1.3, RFC 7636 §4.6).
    private mutating func redeemCode(
        _ form: FormParameters, _ client: DevelopmentClient, _ key: String?, at now: WallTime
    ) throws(ProviderError) -> ServiceReply {
        let refusal = ProviderError(
            .invalidGrant, "the code is unknown, expired, used, or not for this request")
        let code = try form.required(.code)
        let verifier = try form.required(.codeVerifier)
        guard var known = codes.find(code, at: now), known.grant.clientID == client.id else { throw refusal }
        guard !known.isUsed else {
            revokeFamily(known.grant.family, at: now)
            throw refusal
        }
        // Whatever comes of it, the code has been shown.
        known.isUsed = true
        codes.update(code, known)
        let challenge = Base64URL.encode(SHA256.digest(Array(verifier.utf8)))
        guard form[.redirectURI] == known.redirectURI,
            ConstantTime.equal(Array(challenge.utf8), Array(known.codeChallenge.utf8)),
            known.grant.keyThumbprint == nil || known.grant.keyThumbprint == key
        else { throw refusal }
        var grant = known.grant
        grant.keyThumbprint = key
        return issueTokens(for: grant, refreshable: true, at: now)
    }

    /// Revokes a refresh token with everything that came from its login, or one access token (RFC 7009 §2).
    mutating func revoke(_ request: ServiceRequest, at now: WallTime) throws(ProviderError) -> ServiceReply {
        let form = try request.formParameters()
        let client = try authenticatedClient(request, form)
        let token = try form.required(.token)
        if let refresh = refreshTokens.find(token, at: now) {
            if refresh.grant.clientID == client.id { revokeFamily(refresh.grant.family, at: now) }
        } else if let jws = try? JWS(compact: token), (try? publicKeys.verify(jws)) != nil,
            let claims = jws.claims,
            claims[.clientID]?.string == client.id, let id = claims[.tokenID]?.string
        {
            revoked.insert((), as: id, for: settings.accessTokenLifetime, at: now)
        }
        // A token that is unknown needs no revocation: that is success too.
        return .plain(status: 200)
    }
}
