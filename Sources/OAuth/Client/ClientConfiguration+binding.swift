// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON

extension ClientConfiguration {
    /// The server and client that a refresh token is bound to: sent to anybody else, it would be given away.
    package var binding: String {
        let server = issuer ?? endpoints[.token]?.description ?? discoveryURL?.description ?? ""
        // With another user's name, or another subject, an old refresh token would go on being somebody else's.
        return ([server, clientID] + [username, assertion.subject].compactMap(\.self)).joined(separator: " ")
    }

    /// Further terms of a request that the configuration makes again, each with a word for it; most clients have none.
    ///
    /// For whom a person's token is the ``binding`` tells.
    private var otherTerms: [(kind: String, String)] {
        guard !grantType.needsPerson else { return [] }
        var terms = tokenHeaders.map { ("header", "\($0.name): \($0.value)") }
        if let url = endpoints[.token] { terms.append(("endpoint", url.description)) }
        // Its content may be renewed; another file is somebody else's.
        if let grantFile { terms.append(("file", grantFile)) }
        guard grantType == .jwtBearer else { return terms }
        if assertion.audience != .tokenEndpoint { terms.append(("aud", "\(assertion.audience)")) }
        if !assertion.claims.isEmpty {
            let claims = JSONValue.object(assertion.claims).serialized()
            terms.append(("claims", String(decoding: claims, as: UTF8.self)))
        }
        return terms
    }

    /// Tells access tokens for different requests apart; a digest, because parameters may be secret.
    var requestDigest: String {
        var text = ""
        let exchange = [subjectTokenType, requestedTokenType].compactMap(\.self)
        for part in [[grantType.rawValue], scope, audience, resource] + (exchange.isEmpty ? [] : [exchange]) {
            text += part.joined(separator: "\u{1F}") + "\u{1E}"
        }
        if proofs != .never { text += "dpop\u{1E}" }
        // The profile might refuse a token that was obtained without it.
        if let profile { text += "\(profile.rawValue)\u{1E}" }
        for parameter in tokenParameters { text += "\(parameter.name)\u{1F}\(parameter.value)\u{1E}" }
        for (kind, part) in otherTerms { text += "\(kind)\u{1F}\(part)\u{1E}" }
        return Base64URL.encode(SHA256.digest(Array(text.utf8)))
    }
}
