// SPDX-License-Identifier: Apache-2.0

import Admin
import Configuration
import EventLoop
import OAuth

/// `bearerd refresh`: through the store, which a running daemon watches; else by the daemon itself.
struct RefreshCommand: Command {
    static let name = "refresh"
    static let summary = "forces a refresh"
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
        try CommandLoop.run { loop throws(CommandFailure) in
            let session: IdentitySession
            do throws(CommandFailure) {
                session = try IdentitySession(of: identity, in: configuration, loop: loop)
            } catch {
                return try await askDaemon(toRefresh: identity.name, configuration, loop, unless: error)
            }
            _ = try await session.refresh()
        }
        try Console.show("\(identity.name): refreshed\n")
        return .success
    }

    /// The way that is left when the store cannot be opened.
    private func askDaemon(
        toRefresh identity: String, _ configuration: Configuration, _ loop: EventLoop,
        unless storeFailure: CommandFailure
    ) async throws(CommandFailure) {
        let client = try AdminClient(configuration.admin, loop: loop)
        switch try await client?.post(AdminPath.refresh(identity)) {
        case nil, .notRunning?:
            let message = "\(storeFailure.message), and no daemon answers on an admin listener"
            throw CommandFailure(.permission, message)
        case .answered(let status, let body)?:
            guard !(200...299).contains(status) else { return }
            throw CommandFailure(refusal: status, body, of: "\(identity): the daemon")
        }
    }
}
