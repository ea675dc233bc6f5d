// SPDX-License-Identifier: Apache-2.0

public import Cryptography

extension ImportedSession {
    /// A session as another program may read it.
    ///
    /// - Parameters:
    ///   - refreshToken: what it goes on with.
    ///   - scope: scope tokens granted.
    /// - Returns: nil for a token with bytes that no refresh token has.
    public init?(refreshToken: Secret, scope: [String] = []) {
        guard let session = try? ImportedSession(refreshToken: refreshToken.withPlaintext({ $0 })) else {
            return nil
        }
        self = session
        self.scope = scope
    }

    /// The persistence string of GTMOAuth2, which gtm-oauth2 and GTMAppAuth read; it holds the refresh token.
    public var gtmOAuth2String: Secret { GTMOAuth2String.text(of: self) }
}
