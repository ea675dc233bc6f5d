// SPDX-License-Identifier: Apache-2.0

import Admin
import Configuration
import OAuth

/// `bearerd revoke`: has the provider forget tokens (RFC 7009).
struct RevokeCommand: Command {
    static let name = "revoke"
    static let summary = "has the provider forget the tokens"
    static let operand: String? = "IDENTITY"
    static let options = [token]

    private static let token = CommandOption(
        "token", value: "access|refresh", "only this one; an access token goes with its refresh token")

    private let operand: IdentityOperand
    /// The one that is meant; nil for all.
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

    func run() throws(CommandFailure) -> ExitStatus {
        let chosen = try operand.choose()
        let revoked = try chosen.perform(
            AdminPath.revoke(hint, of: chosen.name),
            here: { session throws(CommandFailure) in
                try await session.revoke(hint.map { [$0] } ?? TokenHint.allCases)
            },
            reading: { RevocationReport($0)?.revoked })
        let words = revoked.isEmpty ? "there was nothing to revoke" : "revoked " + text(of: revoked)
        try Console.show("\(chosen.name): \(words)\n")
        return .success
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
