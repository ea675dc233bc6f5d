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
        let claims = try chosen.ask(
            or: .init(path: AdminPath.userinfo(chosen.name)) { $0.object.map(Self.text) }
        ) { session throws(CommandFailure) in Self.text(of: try await session.userinfo()) }
        try Console.show(claims)
        return .success
    }

    private static func text(of claims: JSONObject) -> String {
        String(decoding: claims.serialized(pretty: true), as: UTF8.self)
    }
}
