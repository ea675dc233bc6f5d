// SPDX-License-Identifier: Apache-2.0

import Admin
import Configuration
import JSON

/// `bearerd userinfo`: who logged in, as the provider tells it.
struct UserinfoCommand: Command {
    static let name = "userinfo"
    static let summary = "prints the claims about the user as JSON"
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
        let claims = try CommandLoop.run { loop throws(CommandFailure) in
            try await IdentityAction(on: identity, in: configuration, loop: loop).perform(
                AdminPath.userinfo(identity.name),
                here: { session throws(CommandFailure) in try await session.userinfo() },
                reading: \.object)
        }
        try Console.show(String(decoding: claims.serialized(pretty: true), as: UTF8.self))
        return .success
    }
}
