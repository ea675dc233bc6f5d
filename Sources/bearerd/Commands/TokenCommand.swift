// SPDX-License-Identifier: Apache-2.0

import Configuration
import Cryptography
import OAuth

/// `bearerd token`: the only command whose purpose is to show a token.
struct TokenCommand: IdentityCommand {
    static let name = "token"
    static let summary = "prints a fresh access token alone"
    static let details = [
        "Prints the next token where the stored one is due for a refresh and that succeeds within timeouts.token_wait."
    ]
    static let options = [header, idToken]

    private static let header = CommandOption("header", "the whole Authorization line")

    private static let idToken = CommandOption("id-token", "the id token in its place")

    let operand: IdentityOperand
    private let showsHeader: Bool
    private let showsIDToken: Bool

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        operand = try IdentityOperand(arguments)
        showsHeader = arguments.has(Self.header)
        showsIDToken = arguments.has(Self.idToken)
        guard !showsHeader || !showsIDToken else {
            throw CommandFailure(.usage, "an id token goes into no header: --header or --id-token")
        }
    }

    func run(on chosen: ChosenIdentity) throws(CommandFailure) {
        let showsIDToken = showsIDToken
        let text = try chosen.ask { session throws(CommandFailure) in
            let token = showsIDToken ? try await session.idToken() : try await session.freshToken().token
            return token.withPlaintext { $0 }
        }
        try Console.show(showsHeader ? "Authorization: Bearer \(text)\n" : "\(text)\n")
    }
}
