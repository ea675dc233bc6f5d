// SPDX-License-Identifier: Apache-2.0

import Configuration
import OAuth

/// `bearerd exchange`: finishes what `login --no-exchange` began.
struct ExchangeCommand: Command {
    static let name = "exchange"
    static let summary = "finishes a login that was begun with --no-exchange"
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
        let login = try CommandLoop.run { loop throws(CommandFailure) in
            let session = try IdentitySession(of: identity, in: configuration, loop: loop).session
            let login = await Self.exchange(in: session)
            await session.stop()
            return try login.get()
        }
        Console.remark("\(identity.name): \(login.message)")
        return .success
    }

    /// Exchanges the code that waits; one that the provider refused waits no longer.
    private static func exchange(in session: AuthSession) async -> Result<Login, CommandFailure> {
        guard let code = await session.pendingCode() else {
            let message = "no login waits to be finished; begin with 'bearerd login --no-exchange'"
            return .failure(CommandFailure(.missingInput, "\(session.identity): \(message)"))
        }
        do throws(LoginError) {
            return .success(try await session.logIn(with: code))
        } catch {
            if error.isFinal { try? await session.forget(code) }
            return .failure(CommandFailure(error, of: session.identity))
        }
    }
}

extension LoginError {
    /// Whether the code, which is good for one use, has had it.
    fileprivate var isFinal: Bool {
        switch self {
        case .refused, .expired, .unstored: true
        case .failed(let failure): failure.kind == .final || failure.kind == .doubtful || failure.isBadIDToken
        }
    }
}
