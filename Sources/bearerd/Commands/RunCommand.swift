// SPDX-License-Identifier: Apache-2.0

/// `bearerd run`.
struct RunCommand: Command {
    static let name = "run"
    static let summary = "serves until SIGTERM or SIGINT"

    init(_ arguments: ParsedArguments) throws(CommandFailure) {}

    func run() throws(CommandFailure) -> ExitStatus {
        throw CommandFailure(.unavailable, "not supported yet")
    }
}
