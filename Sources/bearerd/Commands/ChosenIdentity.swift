// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdJSON
import OAuth

/// The identity that a command is for, and the configuration that it is in.
struct ChosenIdentity: Sendable {
    let identity: IdentityConfiguration
    let configuration: Configuration

    var name: String { identity.name }

    /// Refuses to act for an identity that exchanges its callers' tokens, for none is its own.
    ///
    /// - Parameter remedy: what to do in place of that.
    /// - Throws: a failure of usage that says so.
    func requireOwnToken(
        else remedy: String =
            "send it a request with the caller's 'Authorization: Bearer …', or set subject_token_file"
    ) throws(CommandFailure) {
        guard identity.client.exchangesCallersTokens else { return }
        throw CommandFailure(
            .usage,
            "\(name): there is no token of its own: the proxy exchanges each caller's (subject_token: from_request); "
                + remedy)
    }

    /// Refuses what only an authorization server could do.
    ///
    /// - Throws: a failure of usage that names the source.
    func requireProvider() throws(CommandFailure) {
        guard let source = identity.client.source else { return }
        throw CommandFailure(
            .usage,
            "\(name): nobody logs in to source: \(source.name.rawValue), and nothing of it is kept; "
                + "'bearerd token \(name)' and 'bearerd refresh \(name)' ask it")
    }

    /// Refuses to end what is in no store.
    ///
    /// - Throws: a failure of usage that says how the daemon forgets its callers' tokens.
    func requireOwnSession() throws(CommandFailure) {
        try requireOwnToken(
            else:
                "Revoke on its status page, POST /api/identities/\(name)/revoke, or a restart forget what came back"
        )
    }

    /// Does something to it: on the store, which a running daemon watches; where that cannot be opened the daemon
    /// does it.
    ///
    /// - Parameters:
    ///   - resource: what to ask the daemon for.
    ///   - body: what the daemon needs for it.
    ///   - here: does it on the store.
    ///   - reading: makes the same of the daemon's answer; nil if it is not what it should be.
    /// - Returns: what either brings.
    /// - Throws: a failure of permission if there is neither a store nor a daemon.
    func perform<Value: Sendable>(
        _ resource: AdminResource, body: JSONValue? = nil,
        here: @escaping @Sendable (IdentitySession) async throws(CommandFailure) -> Value,
        reading: @escaping @Sendable (JSONValue) -> Value?
    ) throws(CommandFailure) -> Value {
        try CommandLoop.run { loop throws(CommandFailure) in
            let session: IdentitySession
            do throws(CommandFailure) {
                session = try await IdentitySession(of: identity, in: configuration, loop: loop)
            } catch {
                return try await IdentityDaemon(of: identity, in: configuration, loop: loop, because: error)
                    .ask(for: resource, body: body, reading)
            }
            return try await here(session)
        }
    }
}
