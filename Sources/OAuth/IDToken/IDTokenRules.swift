// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSONText

/// The rules for an ID token's claims (OpenID Connect Core §3.1.3.7, §12.2).
struct IDTokenRules {
    /// The request that brought the token.
    enum Occasion {
        /// A login; `nonce` is that of its authorization request, nil for none.
        case login(nonce: Secret?)
        /// A refresh; `previous` is the session's ID token before, nil for none, and `login` what its first one said, nil for
        /// what `previous` says.
        case refresh(previous: IDToken?, login: LoginClaims? = nil)
    }

    /// A parameter of the authorization request that the token has to satisfy (OpenID Connect Core §3.1.2.1).
    private enum Requested: String {
        case maximumAge = "max_age"
        case contexts = "acr_values"
    }

    private static let issuedAtWindow: Duration = .seconds(600)

    /// The expected issuer; nil if it is not known, and any will do.
    let issuer: String?
    let clientID: String
    let occasion: Occasion
    /// The access token that came with the ID token.
    let accessToken: Secret
    let clockSkew: Duration
    let now: WallTime
    /// The additional parameters of the authorization request.
    var parameters: [NamedValue] = []

    /// Throws the first rule that is broken.
    func check(_ token: IDToken) throws(IDTokenError) {
        if let issuer, !issuer.hasSameBytes(as: token.issuer) {
            throw .issuerMismatch(found: token.issuer, expected: issuer)
        }
        guard token.audience.containsBytes(of: clientID) else { throw .audienceMismatch }
        try checkAuthorizedParty(token)
        guard now - token.expiry < clockSkew else { throw .expired }
        switch occasion {
        case .login(let nonce): try checkLogin(token, nonce: nonce)
        case .refresh(let previous?, let login):
            try check(token, follows: previous, login ?? LoginClaims(previous))
        case .refresh(nil, _): break
        }
        try checkAccessToken(token)
    }

    /// Rules 4 and 5: a token of another client that names this one in `aud` too is not valid.
    private func checkAuthorizedParty(_ token: IDToken) throws(IDTokenError) {
        if let party = token.authorizedParty {
            guard party.hasSameBytes(as: clientID) else { throw .authorizedPartyMismatch }
        } else if !token.audience.allSatisfy({ $0.hasSameBytes(as: clientID) }) {
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

    /// Rules 12 and 13, where the login asked for them.
    private func checkAuthentication(_ token: IDToken) throws(IDTokenError) {
        if let text = value(of: .maximumAge) {
            guard let longest = Self.maximumAge(text), let moment = token.authenticationTime,
                now - moment <= longest + clockSkew
            else { throw .authenticatedTooLongAgo }
        }
        // A server without contexts names none; `acr_values` asks for a voluntary claim (§5.5.1.1).
        if let asked = value(of: .contexts)?.split(separator: " "), let context = token.authenticationContext
        {
            guard asked.map(String.init).containsBytes(of: context) else { throw .contextMismatch }
        }
    }

    /// The meaning of `max_age`; nil if it is no number of seconds.
    private static func maximumAge(_ text: String) -> Duration? {
        guard text.utf8.allSatisfy(\.isDigit), let seconds = Int64(text) else { return nil }
        return .seconds(min(seconds, 1 << 40))
    }

    /// Returns true for a parameter that the token has to satisfy.
    static func checks(_ parameter: NamedValue) -> Bool { Requested(rawValue: parameter.name) != nil }

    /// Why a parameter of an authorization request cannot be checked, as the end of a sentence about it; nil if it can.
    static func objection(to parameter: NamedValue) -> String? {
        guard parameter.name == Requested.maximumAge.rawValue, maximumAge(parameter.value) == nil else {
            return nil
        }
        return "is no whole number of seconds (OpenID Connect Core 3.1.2.1)"
    }

    private func value(of parameter: Requested) -> String? {
        parameters.first { $0.name == parameter.rawValue }?.value
    }

    private func check(
        _ token: IDToken, follows previous: IDToken, _ login: LoginClaims
    ) throws(IDTokenError) {
        guard token.subject.hasSameBytes(as: previous.subject) else { throw .subjectChanged }
        // A known issuer has been checked; an imported token may have an older spelling of it.
        guard issuer != nil || token.issuer.hasSameBytes(as: previous.issuer) else {
            throw .sessionChanged(IDTokenClaim.issuer.rawValue)
        }
        guard login.audience.allSatisfy(token.audience.containsBytes) else {
            throw .sessionChanged(IDTokenClaim.audience.rawValue)
        }
        // Where the first one is not known, because an earlier version has stored the session, it may have had one.
        if let nonce = token.nonce, let first = login.nonce, !nonce.hasSameBytes(as: first) {
            throw .sessionChanged(IDTokenClaim.nonce.rawValue)
        }
    }

    /// The left half of the access token's hash, by the hash function of the signature (§3.1.3.6).
    private func checkAccessToken(_ token: IDToken) throws(IDTokenError) {
        guard let expected = token.accessTokenHash else { return }
        guard let function = token.signed.algorithm.messageDigest else { throw .accessTokenMismatch }
        let hash = function.digest(accessToken.withPlaintext { Array($0.utf8) })
        guard Base64URL.encode(Array(hash.prefix(hash.count / 2))).hasSameBytes(as: expected) else {
            throw .accessTokenMismatch
        }
    }
}
