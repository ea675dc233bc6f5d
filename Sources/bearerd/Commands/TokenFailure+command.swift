// SPDX-License-Identifier: Apache-2.0

import OAuth

extension TokenFailure {
    /// The command that helps, as the end of a sentence; empty if there is none.
    var command: String { reason == .notRegistered ? "; 'bearerd register' gets one" : "" }
}
