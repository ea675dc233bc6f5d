// SPDX-License-Identifier: Apache-2.0

import Admin
import Configuration
import EventLoop
import JSON

/// Something that a command does to an identity: on the store, which a running daemon watches; where that cannot be
/// opened the daemon does it.
struct IdentityAction {
    private let identity: IdentityConfiguration
    private let configuration: Configuration
    private let loop: EventLoop

    init(on identity: IdentityConfiguration, in configuration: Configuration, loop: EventLoop) {
        self.identity = identity
        self.configuration = configuration
        self.loop = loop
    }

    /// Does it.
    ///
    /// - Parameters:
    ///   - path: what to ask the daemon for.
    ///   - here: does it on the store.
    ///   - reading: makes the same of the daemon's answer; nil if it is not what it should be.
    /// - Returns: what either brings.
    /// - Throws: a failure of permission if there is neither a store nor a daemon.
    func perform<Value: Sendable>(
        _ path: String, here: (IdentitySession) async throws(CommandFailure) -> Value,
        reading: (JSONValue) -> Value?
    ) async throws(CommandFailure) -> Value {
        let session: IdentitySession
        do throws(CommandFailure) {
            session = try IdentitySession(of: identity, in: configuration, loop: loop)
        } catch {
            guard error.status == .permission || error.status == .cannotCreate else { throw error }
            return try await askDaemon(for: path, because: error, reading)
        }
        return try await here(session)
    }

    private func askDaemon<Value>(
        for path: String, because storeFailure: CommandFailure, _ reading: (JSONValue) -> Value?
    ) async throws(CommandFailure) -> Value {
        let subject = "\(identity.name): the daemon"
        switch try await AdminClient(configuration.admin, loop: loop)?.post(path) {
        case nil, .notRunning?:
            let message = "\(storeFailure.message), and no daemon answers on an admin listener"
            throw CommandFailure(.permission, message)
        case .answered(let status, let body)?:
            guard 200...299 ~= status else { throw CommandFailure(refusal: status, body, of: subject) }
            guard let json = try? JSONValue(parsing: body), let value = reading(json) else {
                throw CommandFailure(.unavailable, "\(subject) does not answer properly")
            }
            return value
        }
    }
}
