// SPDX-License-Identifier: Apache-2.0

/// Why a command ends early: how the process ends, and one line for standard error.
struct CommandFailure: Error {
    let status: ExitStatus
    /// What, where, and what to do about it; empty if that has been said already.
    let message: String
    /// Whether it is that the system does not let us, which a sandbox may have to do with.
    var isDenied = false
    /// Why an identity has no token; nil for everything else.
    var code: TroubleCode?
    /// Whether a daemon may have what the command was refused: it began where it was to be had.
    var mayBeDaemons = false

    init(_ status: ExitStatus, _ message: String = "") {
        self.status = status
        self.message = message
    }
}
