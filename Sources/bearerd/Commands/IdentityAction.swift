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
    ///   - body: what the daemon needs for it.
    ///   - here: does it on the store.
    ///   - reading: makes the same of the daemon's answer; nil if it is not what it should be.
    /// - Returns: what either brings.
    /// - Throws: a failure of permission if there is neither a store nor a daemon.
    func perform<Value: Sendable>(
        _ path: String, body: JSONValue? = nil,
        here: (IdentitySession) async throws(CommandFailure) -> Value,
        reading: (JSONValue) -> Value?
    ) async throws(CommandFailure) -> Value {
        let session: IdentitySession
        do throws(CommandFailure) {
            session = try IdentitySession(of: identity, in: configuration, loop: loop)
        } catch {
            return try await IdentityDaemon(of: identity, in: configuration, loop: loop, because: error)
                .ask(for: path, body: body, reading)
        }
        return try await here(session)
    }
}
