// SPDX-License-Identifier: Apache-2.0

/// Why a login came to nothing; the session that there was goes on.
public enum LoginError: Error, Equatable, Sendable {
    /// The person, or the server, said no.
    case refused(AuthorizationRefusal)
    /// Nobody decided in time.
    case expired
    /// No tokens came, or they are not believed.
    case failed(TokenFailure)
    /// The tokens came and could not be stored.
    case unstored(StoreError)
}

extension LoginError {
    /// Whether the code, which is good for one use, has had it.
    var isFinal: Bool {
        switch self {
        case .refused, .expired, .unstored: true
        case .failed(let failure):
            failure.kind == .final || failure.kind == .doubtful || failure.reason == .badIDToken
        }
    }
}
