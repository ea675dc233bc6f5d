// SPDX-License-Identifier: Apache-2.0

/// `bearerd status`.
struct StatusCommand: Command {
    static let name = "status"
    static let summary = "tells each identity's state, expiry and last error"
    static let options = [json]

    private static let json = CommandOption("json", "as JSON")

    init(_ arguments: ParsedArguments) throws(CommandFailure) {}

    func run() throws(CommandFailure) -> ExitStatus {
        throw CommandFailure(.unavailable, "not supported yet")
    }
}
