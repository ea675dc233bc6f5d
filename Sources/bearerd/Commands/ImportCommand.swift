// SPDX-License-Identifier: Apache-2.0

import Configuration
import Crypto
import OAuth
import System

/// `bearerd import`: begins a session with a refresh token that somebody else obtained.
struct ImportCommand: Command {
    static let name = "import"
    static let summary = "takes over a refresh token from a file"
    static let operand: String? = "IDENTITY"
    static let options = [refreshToken]

    private static let refreshToken = CommandOption(
        "refresh-token", value: "FILE", "one line of printable ASCII")
    private static let longestToken = 64 << 10

    private let file: ConfigurationFile
    private let identityName: String?
    private let tokenFile: String

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        guard let tokenFile = arguments.value(Self.refreshToken) else {
            throw CommandFailure(.usage, "what to import? --refresh-token FILE")
        }
        file = try ConfigurationFile(arguments)
        identityName = arguments.operand
        self.tokenFile = tokenFile
    }

    func run() throws(CommandFailure) -> ExitStatus {
        let configuration = try file.load().configuration
        let identity = try IdentityChoice.choose(identityName, in: configuration)
        let token = try readToken()
        let isNew = try CommandLoop.run { loop throws(CommandFailure) in
            guard configuration.store.isShared else {
                throw CommandFailure(.permission, "the store is in memory: nothing imported would last")
            }
            let engine = try Engine(forCommandOn: configuration, loop: loop)
            do throws(StoreError) {
                return try await Self.store(token, for: identity.client, in: engine.store)
            } catch {
                throw CommandFailure(.inputOutput, "\(identity.name): \(error.reason)")
            }
        }
        try Console.show("\(identity.name): \(isNew ? "imported" : "unchanged, it has this token already")\n")
        return .success
    }

    /// Replaces the session under the store's lock, so that no refresh of a running daemon is overwritten.
    ///
    /// - Parameters:
    ///   - token: the refresh token.
    ///   - client: whose session it begins.
    ///   - store: shared with running daemons.
    /// - Returns: whether anything changed.
    /// - Throws: ``StoreError``.
    private static func store(
        _ token: Secret, for client: ClientConfiguration, in store: any SessionStore
    ) async throws(StoreError) -> Bool {
        let lock = try await store.lock(client.name, waitingAtMost: .seconds(10))
        do throws(StoreError) {
            let present = try await store.load(client.name)
            let bytes = token.withPlaintext { Array($0.utf8) }
            if present?.binding == client.binding, present?.refreshToken?.matches(bytes) ?? false {
                await lock.release()
                return false
            }
            var session = StoredSession(
                identity: client.name, generation: (present?.generation ?? 0) + 1, binding: client.binding)
            session.refreshToken = token
            try await store.save(session)
        } catch {
            await lock.release()
            throw error
        }
        await lock.release()
        return true
    }

    private func readToken() throws(CommandFailure) -> Secret {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try FileSystem.read(tokenFile, limit: Self.longestToken).bytes
        } catch {
            throw CommandFailure(
                error.isMissing ? .missingInput : .inputOutput,
                "\(tokenFile): \(SystemError.text(of: error.code))")
        }
        var text = bytes[...]
        if text.last == UInt8(ascii: "\n") { text.removeLast() }
        if text.last == UInt8(ascii: "\r") { text.removeLast() }
        guard !text.isEmpty, text.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            throw CommandFailure(.badData, "\(tokenFile): a refresh token is one line of printable ASCII")
        }
        return Secret(String(decoding: text, as: UTF8.self))
    }
}
