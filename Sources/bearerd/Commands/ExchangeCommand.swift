// SPDX-License-Identifier: Apache-2.0

import AdminAPI
import Configuration
import OAuth

/// `bearerd exchange`: finishes what `login --no-exchange` began.
struct ExchangeCommand: PlainIdentityCommand {
    static let name = "exchange"
    static let summary = "finishes a login that was begun with --no-exchange"

    let operand: IdentityOperand

    func run(on chosen: ChosenIdentity) throws(CommandFailure) {
        let login = try chosen.perform(
            .session(identity: chosen.name), body: SessionHandover.pending.json,
            here: { session throws(CommandFailure) in HandoverReport(login: try await session.exchange()) },
            reading: { HandoverReport($0) }
        ).login
        guard let login else {
            let message = "no login waits to be finished; begin with 'bearerd login --no-exchange'"
            throw CommandFailure(.missingInput, "\(chosen.name): \(message)")
        }
        Console.remark("\(chosen.name): \(login.message)")
    }
}
