// SPDX-License-Identifier: Apache-2.0

/// Why something that a session was asked for, other than a token, did not come about.
public enum SessionFailure: Error, Equatable, Sendable {
    /// There is no access token to ask with.
    case token(TokenError)
    /// The server did not answer, or not usefully.
    case server(TokenFailure)
    /// The store cannot be read or changed.
    case store(StoreError)
}
