// SPDX-License-Identifier: Apache-2.0

/// `bearerd refresh`.
struct RefreshCommand: Command {
    static let name = "refresh"
    static let summary = "forces a refresh"
    static let operand: String? = "IDENTITY"

    init(_ arguments: ParsedArguments) throws(CommandFailure) {}

    func run() throws(CommandFailure) -> ExitStatus {
        throw CommandFailure(.unavailable, "not supported yet")
    }
}
