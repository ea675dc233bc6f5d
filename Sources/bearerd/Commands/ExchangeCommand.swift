// SPDX-License-Identifier: Apache-2.0

import Admin
import Configuration
import OAuth

/// `bearerd exchange`: finishes what `login --no-exchange` began.
struct ExchangeCommand: Command {
    static let name = "exchange"
    static let summary = "finishes a login that was begun with --no-exchange"
    static let operand: String? = "IDENTITY"

    private let operand: IdentityOperand

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        operand = try IdentityOperand(arguments)
    }

    func run() throws(CommandFailure) -> ExitStatus {
        let chosen = try operand.choose()
        let login = try chosen.perform(
            AdminPath.session(chosen.name), body: SessionHandover.pending.json,
            here: { session throws(CommandFailure) in HandoverReport(login: try await session.exchange())
            },
            reading: { HandoverReport($0) }
        ).login
        guard let login else {
            let message = "no login waits to be finished; begin with 'bearerd login --no-exchange'"
            throw CommandFailure(.missingInput, "\(chosen.name): \(message)")
        }
        Console.remark("\(chosen.name): \(login.message)")
        return .success
    }
}
