// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import OAuth

/// `bearerd revoke`: revokes tokens at the provider (RFC 7009).
struct RevokeCommand: IdentityCommand {
    static let name = "revoke"
    static let summary = "has the provider forget the tokens"
    static let options = [token]

    private static let token = CommandOption(
        "token", value: "access|refresh", "only this one; an access token goes with its refresh token")

    let operand: IdentityOperand
    /// The kind of token to revoke; nil for all.
    private let hint: TokenHint?

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        switch arguments.value(Self.token) {
        case nil: hint = nil
        case "access": hint = .accessToken
        case "refresh": hint = .refreshToken
        case let word?: throw CommandFailure(.usage, "--token: '\(word)' is neither access nor refresh")
        }
        operand = try IdentityOperand(arguments)
    }

    func run(on chosen: ChosenIdentity) throws(CommandFailure) {
        let revoked = try chosen.perform(
            .revoke(identity: chosen.name, hint), needsSession: true,
            here: { session throws(CommandFailure) in
                try chosen.requireOwnSession()
                return try await session.revoke(hint.map { [$0] } ?? TokenHint.allCases)
            },
            reading: { RevocationReport($0)?.revoked })
        let words = revoked.isEmpty ? "there was nothing to revoke" : "revoked " + text(of: revoked)
        try Console.show("\(chosen.name): \(words)\n")
    }

    private func text(of revoked: [TokenHint]) -> String {
        revoked.map { hint in
            switch hint {
            case .accessToken: "the access token"
            case .refreshToken: "the refresh token"
            }
        }.joined(separator: " and ")
    }
}
