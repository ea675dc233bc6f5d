// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import OAuth

/// `bearerd exchange`: finishes what `login --no-exchange` or `login --redirect-uri` began.
struct ExchangeCommand: IdentityCommand {
    static let name = "exchange"
    static let summary = "finishes a login that was begun with --no-exchange or --redirect-uri"
    static let options = [response]

    private static let response = CommandOption(
        "response", value: "URL", "the URL that was opened after --redirect-uri; else it is read from stdin")

    let operand: IdentityOperand
    private let response: String?

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        response = arguments.value(Self.response)
        operand = try IdentityOperand(arguments)
    }

    func run(on chosen: ChosenIdentity) throws(CommandFailure) {
        let login = try chosen.perform(
            .session(identity: chosen.name), body: SessionTransfer.pending.json,
            here: { session throws(CommandFailure) in
                SessionTransferReport(login: try await session.exchange(response))
            },
            reading: { SessionTransferReport($0) }
        ).login
        guard let login else {
            let message = "no login waits to be finished; begin with 'bearerd login --no-exchange'"
            throw CommandFailure(.missingInput, "\(chosen.name): \(message)")
        }
        Console.remark("\(chosen.name): \(login.message)")
    }
}
