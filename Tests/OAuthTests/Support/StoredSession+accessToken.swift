// SPDX-License-Identifier: Apache-2.0

@testable import OAuth

extension StoredSession {
    /// The only access token.
    var accessToken: StoredAccessToken? {
        get { accessTokens.first }
        set { accessTokens = newValue.map { [$0] } ?? [] }
    }
}
