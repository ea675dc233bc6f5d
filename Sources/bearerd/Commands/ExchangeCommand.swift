// SPDX-License-Identifier: Apache-2.0

import Admin
import Configuration
import OAuth

/// `bearerd exchange`: finishes what `login --no-exchange` began.
struct ExchangeCommand: Command {
    static let name = "exchange"
    static let summary = "finishes a login that was begun with --no-exchange"
    static let operand: String? = "IDENTITY"

    private let file: ConfigurationFile
    private let identityName: String?

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        file = try ConfigurationFile(arguments)
        identityName = arguments.operand
    }

    func run() throws(CommandFailure) -> ExitStatus {
        let configuration = try file.load().configuration
        let identity = try IdentityChoice.choose(identityName, in: configuration)
        let login = try CommandLoop.run { loop throws(CommandFailure) in
            try await IdentityAction(on: identity, in: configuration, loop: loop).perform(
                AdminPath.session(identity.name), body: SessionHandover.pending.json,
                here: { session throws(CommandFailure) in HandoverReport(login: try await session.exchange())
                },
                reading: { HandoverReport($0) }
            ).login
        }
        guard let login else {
            let message = "no login waits to be finished; begin with 'bearerd login --no-exchange'"
            throw CommandFailure(.missingInput, "\(identity.name): \(message)")
        }
        Console.remark("\(identity.name): \(login.message)")
        return .success
    }
}
