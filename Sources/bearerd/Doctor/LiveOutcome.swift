// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// The outcome of asking for a token in an identity's name.
struct LiveOutcome: Sendable {
    /// nil if there is a token.
    var failure: CommandFailure?
    /// The token, where no store has it.
    var token: Secret?
}
