// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// A token request that was sent, or is about to be.
struct SentRequest: Sendable {
    /// Names its answer.
    let ticket: Ticket
    /// What the access token is for.
    let target: TokenTarget
    /// What it is made with.
    let grant: Grant
    /// The session whose refresh token it carries; an answer to another session's request changes nothing.
    let origin: String
    /// When it was handed to the driver.
    var sentAt: Instant
    /// Whether its connection lives, so that an answer may come.
    var isConnected = true
    /// Whether the provider has shown that it answers, and this request is still unanswered a while later, so that the
    /// refresh token may be sent again.
    var isGivenUp = false

    /// The refresh token that it carries.
    var refreshToken: Secret? {
        if case .refresh(let token) = grant { token } else { nil }
    }
}
