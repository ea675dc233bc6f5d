// SPDX-License-Identifier: Apache-2.0

/// `bearerd token`.
struct TokenCommand: Command {
    static let name = "token"
    static let summary = "prints a fresh access token alone"
    static let operand: String? = "IDENTITY"
    static let options = [header]

    private static let header = CommandOption("header", "the whole Authorization line")

    init(_ arguments: ParsedArguments) throws(CommandFailure) {}

    func run() throws(CommandFailure) -> ExitStatus {
        throw CommandFailure(.unavailable, "not supported yet")
    }
}
