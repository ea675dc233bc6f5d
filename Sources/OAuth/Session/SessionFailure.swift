// SPDX-License-Identifier: Apache-2.0

/// Why something that a session was asked for, other than a token, did not come about.
public enum SessionFailure: ExplainedError, Equatable, Sendable {
    /// There is no access token to ask with.
    case token(TokenError)
    /// The server did not answer, or not usefully.
    case server(TokenFailure)
    /// The store cannot be read or changed.
    case store(StoreError)
}

extension SessionFailure {
    /// The reason and the remedy, for a person.
    public var sentence: String {
        switch self {
        case .token(let error): error.sentence
        case .server(let failure): failure.sentence
        case .store(let error): "the store: \(error.sentence)"
        }
    }
}
