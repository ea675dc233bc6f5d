// SPDX-License-Identifier: Apache-2.0

package import Cryptography

/// What a successful answer of the token endpoint granted (RFC 6749 §5.1), checked and ready for use.
package struct TokenGrant: Sendable {
    /// Every byte of it is in 0x21–0x7E.
    package var accessToken: Secret
    /// How long the access token is good for; nil if the answer did not tell.
    package var lifetime: Duration?
    /// A refresh token in place of the one before, which stays good if the answer had none.
    package var refreshToken: Secret?
    package var idToken: Secret?
    /// nil if the answer had none: what was asked for was granted.
    package var scope: [String]?
    /// What else the answer had.
    package var additional: AdditionalParameters

    package init(
        accessToken: Secret, lifetime: Duration?, refreshToken: Secret? = nil, idToken: Secret? = nil,
        scope: [String]? = nil, additional: AdditionalParameters = AdditionalParameters()
    ) {
        self.accessToken = accessToken
        self.lifetime = lifetime
        self.refreshToken = refreshToken
        self.idToken = idToken
        self.scope = scope
        self.additional = additional
    }
}
