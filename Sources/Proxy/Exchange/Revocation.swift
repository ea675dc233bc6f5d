// SPDX-License-Identifier: Apache-2.0

/// A reload's decision that an exchange in flight would no longer be accepted.
struct Revocation {
    /// The ``WorkerState/version`` whose rules refuse the exchange.
    let version: Int
    let abortReason: AbortReason
}
