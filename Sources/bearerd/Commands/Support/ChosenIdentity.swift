// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdEventLoop
import BearerdJSON
import OAuth

/// The identity of a command, with its configuration.
struct ChosenIdentity: Sendable {
    let identity: IdentityConfiguration
    let configuration: Configuration
    /// The path of the configuration file.
    let file: String

    var name: String { identity.name }

    /// Refuses an identity that exchanges its callers' tokens and so has no token of its own.
    ///
    /// - Parameter remedy: what to do instead.
    /// - Throws: a failure of usage.
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

    /// Refuses a command that needs an authorization server for an identity with a `source`.
    ///
    /// - Throws: a failure of usage that names the source.
    func requireProvider() throws(CommandFailure) {
        guard let source = identity.client.source else { return }
        throw CommandFailure(
            .usage,
            "\(name): nobody logs in to source: \(source.name.rawValue), and nothing of it is kept; "
                + "'bearerd token \(name)' and 'bearerd refresh \(name)' ask it")
    }

    /// Refuses to end the session of an identity that has none in the store.
    ///
    /// - Throws: a failure of usage with the way to make the daemon forget its callers' tokens.
    func requireOwnSession() throws(CommandFailure) {
        try requireOwnToken(
            else:
                "Revoke on its status page, POST /api/identities/\(name)/revoke, or a restart forget what came back"
        )
    }

    /// Performs an action on the store, or through the daemon if the store cannot be opened, or has nothing of a session
    /// that the daemon has, or an older one.
    ///
    /// A running daemon watches the store and notices the change.
    ///
    /// - Parameters:
    ///   - resource: the action for the daemon.
    ///   - body: the body of the request to the daemon.
    ///   - needsSession: true if the action is of use only where there is a session.
    ///   - here: performs the action on the store.
    ///   - reading: reads the result from the daemon's answer; nil if it is unexpected.
    /// - Returns: the result from either.
    /// - Throws: a failure of permission if neither a store nor a daemon is available.
    func perform<Value: Sendable>(
        _ resource: AdminResource, body: JSONValue? = nil, needsSession: Bool = false,
        here: @escaping @Sendable (IdentitySession) async throws(CommandFailure) -> Value,
        reading: @escaping @Sendable (JSONValue) -> Value?
    ) throws(CommandFailure) -> Value {
        try CommandLoop.run { loop throws(CommandFailure) in
            let session: IdentitySession
            do throws(CommandFailure) {
                session = try await IdentitySession(of: identity, in: configuration, of: file, loop: loop)
            } catch {
                if needsSession, error.status == .unavailable, !error.mayBeDaemons {
                    throw CommandFailure(error.status, "\(error.message); \(stillHeld(loop))")
                }
                return try await IdentityDaemon(
                    of: identity, in: configuration, of: file, loop: loop, because: error
                )
                .ask(for: resource, body: body, reading)
            }
            if needsSession,
                let daemon = try await IdentityDaemon(
                    holding: identity, unknownTo: session, in: configuration, of: file, loop: loop)
            {
                return try await daemon.ask(for: resource, body: body, reading)
            }
            return try await here(session)
        }
    }

    /// The words on a session that could not be ended, because the store is away.
    private func stillHeld(_ loop: EventLoop) -> String {
        let told = "nothing is ended: a daemon that runs holds the tokens still, and goes on with them"
        guard let client = AdminClient(configuration.admin, listen: configuration.listen, loop: loop) else {
            return told
        }
        return """
            \(told); Logout on its status page, \(client.page), ends them at once, and in the store as soon as that is back
            """
    }
}
