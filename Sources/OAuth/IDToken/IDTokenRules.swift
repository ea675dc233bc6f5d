// SPDX-License-Identifier: Apache-2.0

import Cryptography

/// The rules that an id token must satisfy beside its signature (OpenID Connect Core §3.1.3.7, §12.2).
struct IDTokenRules {
    /// How the token came.
    enum Occasion {
        /// With a login; the nonce of its authorization request, if there was one.
        case login(nonce: Secret?)
        /// With a refresh; the token that the session had before, if that is known.
        case refresh(previous: IDToken?)
    }

    private static let issuedAtWindow: Duration = .seconds(600)

    /// Who must have issued the token; nil where nobody says who the issuer is, and any will do.
    let issuer: String?
    let clientID: String
    let occasion: Occasion
    /// The access token that came with the id token.
    let accessToken: Secret
    let clockSkew: Duration
    let now: WallTime
    /// What a browser's authorization request had of its own, whose `max_age` and `acr_values` the answer must satisfy.
    var parameters: [NamedValue] = []

    /// - Throws: the first rule that is broken.
    func check(_ token: IDToken) throws(IDTokenError) {
        if let issuer, token.issuer != issuer {
            throw .issuerMismatch(found: token.issuer, expected: issuer)
        }
        guard token.audience.contains(clientID) else { throw .audienceMismatch }
        try checkAuthorizedParty(token)
        guard now - token.expiry < clockSkew else { throw .expired }
        switch occasion {
        case .login(let nonce): try checkLogin(token, nonce: nonce)
        case .refresh(let previous):
            try previous.map { first throws(IDTokenError) in try check(token, follows: first) }
        }
        try checkAccessToken(token)
    }

    /// Somebody else's token must not become ours because it names us beside them.
    private func checkAuthorizedParty(_ token: IDToken) throws(IDTokenError) {
        if let party = token.authorizedParty {
            guard party == clientID else { throw .authorizedPartyMismatch }
        } else if token.audience.contains(where: { $0 != clientID }) {
            throw .authorizedPartyMismatch
        }
    }

    private func checkLogin(_ token: IDToken, nonce: Secret?) throws(IDTokenError) {
        let age = now - token.issuedAt
        guard .zero - Self.issuedAtWindow...Self.issuedAtWindow ~= age else { throw .issuedAtTooFarFromNow }
        guard let nonce else { return }
        guard let answered = token.nonce, nonce.matches(Array(answered.utf8)) else { throw .nonceMismatch }
        try checkAuthentication(token)
    }

    /// What was asked of the way in which the person proves who they are.
    private func checkAuthentication(_ token: IDToken) throws(IDTokenError) {
        if let longest = value(of: .maximumAge).flatMap({ Int64($0) }) {
            guard let moment = token.authenticationTime,
                now - moment <= .seconds(min(longest, 1 << 40)) + clockSkew
            else { throw .authenticatedTooLongAgo }
        }
        // A server that knows no contexts names none; the request for one is voluntary (§5.5.1.1).
        if let asked = value(of: .contexts)?.split(separator: " "), let context = token.authenticationContext
        {
            guard asked.contains(Substring(context)) else { throw .contextMismatch }
        }
    }

    private func value(of parameter: RequestedAuthentication) -> String? {
        parameters.first { $0.name == parameter.rawValue }?.value
    }

    private func check(_ token: IDToken, follows previous: IDToken) throws(IDTokenError) {
        guard token.subject == previous.subject else { throw .subjectChanged }
        // Where the issuer is known, the token has it; one that was imported may spell it in an older way.
        guard issuer != nil || token.issuer == previous.issuer else {
            throw .sessionChanged(IDTokenClaim.issuer.rawValue)
        }
        guard Set(previous.audience).isSubset(of: token.audience) else {
            throw .sessionChanged(IDTokenClaim.audience.rawValue)
        }
        guard token.nonce == nil || token.nonce == previous.nonce else {
            throw .sessionChanged(IDTokenClaim.nonce.rawValue)
        }
    }

    /// The left half of the access token's hash, by the hash function of the signature (§3.1.3.6).
    private func checkAccessToken(_ token: IDToken) throws(IDTokenError) {
        guard let expected = token.accessTokenHash else { return }
        guard let function = token.signed.algorithm.messageDigest else { throw .accessTokenMismatch }
        let hash = function.digest(accessToken.withPlaintext { Array($0.utf8) })
        guard Base64URL.encode(Array(hash.prefix(hash.count / 2))) == expected else {
            throw .accessTokenMismatch
        }
    }
}
