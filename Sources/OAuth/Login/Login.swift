// SPDX-License-Identifier: Apache-2.0

/// The result of a login, without its tokens.
public struct Login: Equatable, Sendable {
    /// True if the login brought a refresh token; without one the session ends with its access token.
    public let hasRefreshToken: Bool
    /// True if the login brought an ID token.
    public let hasIDToken: Bool
    /// `preferred_username`, `email` or `sub` of the ID token; nil without one.
    public let person: String?

    package init(hasRefreshToken: Bool, hasIDToken: Bool, person: String? = nil) {
        self.hasRefreshToken = hasRefreshToken
        self.hasIDToken = hasIDToken
        self.person = person
    }
}

/// Why a login failed; the present session stays.
public enum LoginError: Error, Equatable, Sendable {
    /// The person or the server refused.
    case refused(AuthorizationRefusal)
    /// The person did not decide in time.
    case expired
    /// There are no tokens, or they do not pass the checks.
    case failed(TokenFailure)
    /// The tokens could not be stored.
    case unstored(StoreError)
}

extension LoginError {
    /// True if the code has been used up.
    var isFinal: Bool {
        switch self {
        case .refused, .expired, .unstored: true
        case .failed(let failure):
            failure.kind == .final || failure.kind == .doubtful || failure.reason == .badIDToken
        }
    }
}
