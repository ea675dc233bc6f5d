// SPDX-License-Identifier: Apache-2.0

import OAuth

/// The word for why an identity has no token: the same in `last_error`, in log lines and between two processes.
struct TroubleCode: RawRepresentable, Equatable, Sendable {
    let rawValue: String

    init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// That of a token request which brought none.
    init(_ reason: TokenFailure.Reason) {
        self.init(rawValue: reason.code)
    }

    /// That of an identity's last error.
    init(_ error: IdentityError) {
        self.init(rawValue: error.code)
    }
}
