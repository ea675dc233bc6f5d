// SPDX-License-Identifier: Apache-2.0

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
