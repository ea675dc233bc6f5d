// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdJSON

/// `bearerd userinfo`: prints the provider's claims about the user.
struct UserinfoCommand: PlainIdentityCommand {
    static let name = "userinfo"
    static let summary = "prints the claims about the user as JSON"
    static let details = [
        "Asks with a fresh token. Claims about another sub than that of the id token are not shown."
    ]

    let operand: IdentityOperand

    func run(on chosen: ChosenIdentity) throws(CommandFailure) {
        try chosen.requireOwnToken()
        let claims = try chosen.ask(
            or: .init(resource: .userinfo(identity: chosen.name)) { $0.object.map(Self.text) }
        ) { session throws(CommandFailure) in Self.text(of: try await session.userinfo()) }
        try Console.show(claims)
    }

    private static func text(of claims: JSONObject) -> String {
        String(decoding: claims.serialized(pretty: true), as: UTF8.self)
    }
}
