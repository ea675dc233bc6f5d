// SPDX-License-Identifier: Apache-2.0

import Admin
import Configuration

/// `bearerd refresh`: through the store, which a running daemon watches; else by the daemon itself.
struct RefreshCommand: Command {
    static let name = "refresh"
    static let summary = "forces a refresh"
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
        try CommandLoop.run { loop throws(CommandFailure) in
            try await IdentityAction(on: identity, in: configuration, loop: loop).perform(
                AdminPath.refresh(identity.name),
                here: { session throws(CommandFailure) in _ = try await session.refresh() },
                reading: { _ in () })
        }
        try Console.show("\(identity.name): refreshed\n")
        return .success
    }
}
