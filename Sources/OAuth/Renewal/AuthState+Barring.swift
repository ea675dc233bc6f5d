// SPDX-License-Identifier: Apache-2.0

/// Requests that a refresh token may have been spent on in vain.
///
/// A server that refuses `scope` or `resource` of a refresh may have replaced the refresh token before it looked. To
/// show it the old one again by ourselves could end the whole session: it takes another request, because the
/// configuration was changed, or a person who asks.
extension AuthState {
    /// Whether our request is not made again by itself.
    var isBarred: Bool { session.barredRequests[request] != nil }

    /// Whether an attempt of ours shows a refresh token that only a person can replace.
    private var showsRefreshToken: Bool {
        session.refreshToken != nil && configuration.grantType.needsPerson
    }

    /// What a refusal makes of `session`.
    func barring(_ session: StoredSession, after failure: TokenFailure) -> StoredSession {
        guard showsRefreshToken, rotates != false else { return session }
        return session.barring(request, after: failure)
    }

    /// An attempt was answered with a token: what that tells of the server.
    mutating func learnRotation(from grant: TokenResponse) {
        guard showsRefreshToken, attempt?.isRotationStored != true else { return }
        rotates =
            grant.refreshToken.map { new in
                !new.withPlaintext { session.refreshToken?.matches(Array($0.utf8)) ?? false }
            } ?? false
    }
}
