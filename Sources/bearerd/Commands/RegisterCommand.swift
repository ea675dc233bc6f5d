// SPDX-License-Identifier: Apache-2.0

import Admin
import Configuration
import OAuth
import Observability

/// `bearerd register`: has the provider make a client (RFC 7591).
struct RegisterCommand: Command {
    static let name = "register"
    static let summary = "has the provider make a client for an identity, and keeps it in the store"
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
        let report = try CommandLoop.run { loop throws(CommandFailure) in
            try await IdentityAction(on: identity, in: configuration, loop: loop).perform(
                AdminPath.register(identity.name),
                here: { session throws(CommandFailure) in RegistrationReport(try await session.register()) },
                reading: { RegistrationReport($0) })
        }
        try Console.show("\(identity.name): registered as \(report.clientID)\n")
        if let expiry = report.secretExpiry {
            Console.remark(
                "warning: its secret ends \(Timestamp.text(unixSeconds: expiry.secondsSinceEpoch)): register again before"
            )
        }
        return .success
    }
}
