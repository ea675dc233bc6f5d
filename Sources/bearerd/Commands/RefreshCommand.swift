// SPDX-License-Identifier: Apache-2.0

import Admin
import Configuration

/// `bearerd refresh`: through the store, which a running daemon watches; else by the daemon itself.
struct RefreshCommand: Command {
    static let name = "refresh"
    static let summary = "forces a refresh"
    static let operand: String? = "IDENTITY"

    private let operand: IdentityOperand

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        operand = try IdentityOperand(arguments)
    }

    func run() throws(CommandFailure) -> ExitStatus {
        let chosen = try operand.choose()
        _ = try chosen.ask(or: .init(path: AdminPath.refresh(chosen.name)) { _ in "" }) {
            session throws(CommandFailure) in
            _ = try await session.refresh()
            return ""
        }
        try Console.show("\(chosen.name): refreshed\n")
        return .success
    }
}
