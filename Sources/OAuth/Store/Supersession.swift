// SPDX-License-Identifier: Apache-2.0

/// What makes the token requests of an identity needless that are under way.
enum Supersession: Sendable {
    /// A login has brought another session.
    case login
    /// The session has ended, at the provider too unless `isLocal`.
    case logout(isLocal: Bool)
}
