// SPDX-License-Identifier: Apache-2.0

/// A failure that ends a command, with an exit status and one line for standard error.
struct CommandFailure: Error {
    let status: ExitStatus
    /// The problem, its place and its remedy; empty if it has been printed already.
    var message: String
    /// The command or the change that helps, for `doctor`; nil where the message names it, or nobody knows.
    var remedy: String?
    /// True if the system denied an action, which may be due to a sandbox.
    var isDenied = false
    /// The code of the reason why an identity has no token; nil for other failures.
    var code: TroubleCode?
    /// True if a daemon may succeed, because it was started where the command's resource is available.
    var mayBeDaemons = false

    init(_ status: ExitStatus, _ message: String = "") {
        self.status = status
        self.message = message
    }
}
