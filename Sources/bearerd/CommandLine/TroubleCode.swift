// SPDX-License-Identifier: Apache-2.0

import OAuth

/// The code of the reason why an identity has no token, as in `last_error` and in log lines.
struct TroubleCode: RawRepresentable, Equatable, Sendable {
    let rawValue: String

    init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The code of a failed token request.
    init(_ reason: TokenFailure.Reason) {
        self.init(rawValue: reason.code)
    }

    /// The code of an identity's last error.
    init(_ error: LastError) {
        self.init(rawValue: error.code)
    }
}
