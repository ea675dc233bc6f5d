// SPDX-License-Identifier: Apache-2.0

import Admin
import Configuration
import JSON

/// `bearerd userinfo`: who logged in, as the provider tells it.
struct UserinfoCommand: Command {
    static let name = "userinfo"
    static let summary = "prints the claims about the user as JSON"
    static let operand: String? = "IDENTITY"

    private let operand: IdentityOperand

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        operand = try IdentityOperand(arguments)
    }

    func run() throws(CommandFailure) -> ExitStatus {
        let chosen = try operand.choose()
        let claims = try chosen.perform(
            AdminPath.userinfo(chosen.name),
            here: { session throws(CommandFailure) in try await session.userinfo() },
            reading: \.object)
        try Console.show(String(decoding: claims.serialized(pretty: true), as: UTF8.self))
        return .success
    }
}
