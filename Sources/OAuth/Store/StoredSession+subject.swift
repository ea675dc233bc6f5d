// SPDX-License-Identifier: Apache-2.0

extension StoredSession {
    /// The person that the session is of: `sub` of the ID token, where there is one.
    var subject: String? { idToken.flatMap { try? IDToken(parsing: $0) }?.subject }
}
