// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography

extension ImportedSession {
    /// A session to be read by another program; nil if the token has bytes that no refresh token has.
    public init?(refreshToken: Secret, scope: [String] = []) {
        guard let session = try? ImportedSession(refreshToken: refreshToken.withPlaintext({ $0 }))
        else { return nil }
        self = session
        self.scope = scope
    }

    /// The persistence string of GTMOAuth2, for gtm-oauth2 and GTMAppAuth; it holds the refresh token.
    public var gtmOAuth2String: Secret { GTMOAuth2String.text(of: self) }
}
