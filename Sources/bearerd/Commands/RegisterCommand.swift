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

    private let operand: IdentityOperand

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        operand = try IdentityOperand(arguments)
    }

    func run() throws(CommandFailure) -> ExitStatus {
        let chosen = try operand.choose()
        let report = try chosen.perform(
            AdminPath.register(chosen.name),
            here: { session throws(CommandFailure) in RegistrationReport(try await session.register()) },
            reading: { RegistrationReport($0) })
        try Console.show("\(chosen.name): registered as \(report.clientID)\n")
        if let expiry = report.secretExpiry {
            Console.remark(
                "warning: its secret ends \(Timestamp.text(unixSeconds: expiry.secondsSinceEpoch)): register again before"
            )
        }
        return .success
    }
}
