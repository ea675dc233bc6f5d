// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdObservability
import OAuth

/// `bearerd register`: registers a client at the provider (RFC 7591).
struct RegisterCommand: PlainIdentityCommand {
    static let name = "register"
    static let summary = "has the provider make a client for an identity, and keeps it in the store"
    static let details = [
        "Dynamic client registration (RFC 7591). The identity needs no client_id; what comes back is kept in the store, and "
            + "initial_access_token goes along where it is configured.",
        "Registering again makes another client; the session of the one before ends.",
    ]

    let operand: IdentityOperand

    func run(on chosen: ChosenIdentity) throws(CommandFailure) {
        let report = try chosen.perform(
            .register(identity: chosen.name),
            here: { session throws(CommandFailure) in
                if let replaced = await session.replaced, replaced.others != nil {
                    Console.remark(replaced.words)
                }
                return RegistrationReport(try await session.register())
            },
            reading: { RegistrationReport($0) })
        try Console.show("\(chosen.name): registered as \(report.clientID)\n")
        if let expiry = report.secretExpiry {
            Console.remark(
                "warning: its secret ends \(Timestamp.text(unixSeconds: expiry.secondsSinceEpoch)): register again before"
            )
        }
    }
}
