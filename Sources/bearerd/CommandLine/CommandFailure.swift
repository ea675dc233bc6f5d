// SPDX-License-Identifier: Apache-2.0

/// Why a command ends early: how the process ends, and one line for standard error.
struct CommandFailure: Error {
    let status: ExitStatus
    /// What, where, and what to do about it; empty if that has been said already.
    let message: String

    init(_ status: ExitStatus, _ message: String = "") {
        self.status = status
        self.message = message
    }
}
