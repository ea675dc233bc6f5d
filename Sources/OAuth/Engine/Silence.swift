// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// A refresh token may have been spent: its request is unanswered, or a holder that is gone has left its mark.
struct Silence: Sendable {
    /// The token in doubt.
    let refreshToken: Secret
    /// What owners that are gone have left; none where the request was ours.
    var marks: [SpendingMark] = []
    /// What the provider was asked meanwhile, without any credential.
    var probe: Probe
    /// How many probes were not answered.
    var failures = 0

    enum Probe: Sendable {
        /// It is asked at this moment.
        case due(Instant)
        /// It has been asked.
        case asked(Ticket)
        /// It has answered. What is still unanswered at this moment is given up.
        case answered(givingUpAt: Instant)
    }
}
