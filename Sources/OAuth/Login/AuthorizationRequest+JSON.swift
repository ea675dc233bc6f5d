// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography
import BearerdJSON

/// Handing a request to another process.
extension AuthorizationRequest {
    private enum Member: String {
        case url, state, nonce, verifier
        case redirectURI = "redirect_uri"
        case issuer
        case requiresIssuer = "requires_issuer"
        case proofKey = "proof_key"
        case additions, binding
        case clientID = "client_id"
        case scope
    }

    /// The request as JSON, with state, nonce and verifier: as secret as the tokens that it will bring.
    public func encoded() -> Secret {
        var object = JSONObject()
        func put(_ member: Member, _ value: JSONValue) { object[member.rawValue] = value }
        put(.url, .string(url))
        put(.state, .string(state.withPlaintext { $0 }))
        put(.nonce, .string(nonce.withPlaintext { $0 }))
        put(.verifier, .string(verifier.withPlaintext { $0 }))
        put(.redirectURI, .string(redirectURI))
        put(.clientID, .string(clientID))
        if let issuer { put(.issuer, .string(issuer)) }
        put(.requiresIssuer, .bool(requiresIssuer))
        if let proofKey { put(.proofKey, .string(proofKey.privateJWK.withPlaintext { $0 })) }
        if let binding { put(.binding, .string(binding)) }
        if let additions = additions.json { put(.additions, .object(additions)) }
        // Its secrets are listed one by one; the rest may be shown.
        return Secret(unlisted: object.serialized())
    }

    /// Reads the output of ``encoded()``; nil if it is damaged.
    public init?(decoding encoded: Secret) {
        guard let object = encoded.withPlaintext({ try? JSONObject(parsing: Array($0.utf8)) }) else {
            return nil
        }
        func string(_ member: Member) -> String? { object[member.rawValue]?.string }
        guard let url = string(.url), let state = string(.state), !state.isEmpty, let nonce = string(.nonce),
            let verifier = string(.verifier), let redirectURI = string(.redirectURI),
            let requiresIssuer = object[Member.requiresIssuer.rawValue]?.bool
        else { return nil }
        self.init(
            url: url, state: Secret(state), nonce: Secret(nonce), verifier: Secret(verifier),
            redirectURI: redirectURI, issuer: string(.issuer), requiresIssuer: requiresIssuer,
            proofKey: string(.proofKey).flatMap { try? ProofKey(parsing: Secret($0)) })
        clientID = string(.clientID) ?? ""
        binding = string(.binding)
        additions = LoginAdditions(object[Member.additions.rawValue]?.object)
        // An earlier version wrote it there alone.
        if additions.scope == nil, let scope = object[Member.scope.rawValue]?.array?.compactMap(\.string) {
            additions = additions.asking(for: scope)
        }
    }
}
