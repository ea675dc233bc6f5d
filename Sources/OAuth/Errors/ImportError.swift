// SPDX-License-Identifier: Apache-2.0

/// The reason why a file cannot be imported, thrown by the product `SessionImport`.
///
/// It stands beside the other errors so that `OAuthFoundation` can make all of them a `LocalizedError`.
public enum ImportError: ExplainedError, Equatable, Sendable {
    /// The file is malformed; the reason quotes nothing of it.
    case malformed(String)
    /// The session has no refresh token.
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

    /// The reason and the remedy, for a person.
    public var sentence: String { "the file cannot be imported: \(reason)" }
}
