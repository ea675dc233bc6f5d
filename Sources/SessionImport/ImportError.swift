// SPDX-License-Identifier: Apache-2.0

/// Why a file is not taken over.
public enum ImportError: Error, Equatable, Sendable {
    /// It is not what it should be; the reason is one of ours, nothing of the file is in it.
    case malformed(String)
    /// It holds a session that nobody can renew.
    case noRefreshToken
}

extension ImportError {
    /// The reason as part of a sentence.
    public var reason: String {
        switch self {
        case .malformed(let reason): reason
        case .noRefreshToken: "there is no refresh token in it, so nothing that would last; log in instead"
        }
    }
}
