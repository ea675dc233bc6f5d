// SPDX-License-Identifier: Apache-2.0

import BearerdJSON

/// The claims of the first ID token of a session that those of its refreshes are compared with (OpenID Connect Core §12.2).
///
/// They are not those of the newest ID token: that one may name more audiences, and need not repeat the nonce.
struct LoginClaims: Equatable, Sendable {
    /// `aud`, of which each later ID token names all.
    let audience: [String]
    /// `nonce`, which a later ID token has or lacks; nil where there was none.
    let nonce: String?

    init(_ token: IDToken) {
        audience = token.audience
        nonce = token.nonce
    }
}

extension LoginClaims {
    /// - Returns: nil if it is not what ``json`` gives.
    init?(_ json: JSONObject) {
        guard let audience = json[IDTokenClaim.audience.rawValue]?.array?.compactMap(\.string) else {
            return nil
        }
        self.audience = audience
        nonce = json[IDTokenClaim.nonce.rawValue]?.string
    }

    var json: JSONObject {
        var object = JSONObject()
        object[IDTokenClaim.audience.rawValue] = .array(audience.map(JSONValue.string))
        object[IDTokenClaim.nonce.rawValue] = nonce.map(JSONValue.string)
        return object
    }
}
