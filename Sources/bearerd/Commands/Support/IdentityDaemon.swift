// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdEventLoop
import BearerdJSON
import OAuth

/// The daemon that has an identity's session, for a command that cannot open the store, or finds nothing there, or nothing new.
struct IdentityDaemon {
    private let identity: String
    private let client: AdminClient?
    /// The admin listener, for the message where it cannot be asked.
    private let admin: AdminConfiguration?
    /// The reason why the command cannot open the store.
    private let storeFailure: CommandFailure
    /// The configuration's; a daemon that runs by another one has nothing to do with the session.
    private let file: String

    /// - Throws: `storeFailure` if a daemon cannot help with it.
    init(
        of identity: IdentityConfiguration, in configuration: Configuration, of file: String, loop: EventLoop,
        because storeFailure: CommandFailure
    ) throws(CommandFailure) {
        guard
            storeFailure.status == .permission || storeFailure.status == .cannotCreate
                || storeFailure.mayBeDaemons
        else { throw storeFailure }
        self.identity = identity.name
        self.storeFailure = storeFailure
        self.file = file
        admin = configuration.admin
        client = AdminClient(admin, listen: configuration.listen, loop: loop)
    }

    /// The daemon that has a session of which the store has nothing, because somebody removed the store under it, or nothing
    /// that counts, because the store takes nothing.
    ///
    /// - Parameters:
    ///   - session: over the store.
    ///   - file: the configuration's; a daemon that runs by another one has nothing to do with the store.
    /// - Returns: nil if the store has the newest that there is, if no daemon runs, or if it has no session either.
    /// - Throws: the failure of a daemon that does not tell, where the store knows nothing of the identity.
    init?(
        holding identity: IdentityConfiguration, unknownTo session: IdentitySession,
        in configuration: Configuration, of file: String, loop: EventLoop
    ) async throws(CommandFailure) {
        // What its callers' tokens were exchanged for is in no store.
        guard !identity.client.exchangesCallersTokens,
            let client = AdminClient(configuration.admin, listen: configuration.listen, loop: loop)
        else { return nil }
        let isUnknown = await session.isUnknownToStore
        let known: SessionStatus?
        do throws(CommandFailure) {
            known = try await Self.status(of: identity.name, from: client, running: file)
        } catch {
            guard isUnknown else { return nil }
            throw error
        }
        guard let known, isUnknown ? known.hasSession : known.isOnlyHere else { return nil }
        self.identity = identity.name
        storeFailure = CommandFailure(
            .permission, "\(identity.name): the store has nothing\(isUnknown ? "" : " new") of it")
        self.client = client
        admin = configuration.admin
        self.file = file
    }

    /// - Returns: nil if no daemon runs by the file, or it has no such identity.
    private static func status(
        of identity: String, from client: AdminClient, running file: String
    ) async throws(CommandFailure) -> SessionStatus? {
        guard case .own(let document) = try await client.daemon(of: file) else { return nil }
        return document.identities.first { $0.name == identity }
    }

    /// Checks that the daemon runs and could store a login, before a person is asked to log in.
    func require() async throws(CommandFailure) {
        _ = try await ask(for: .session(identity: identity), body: SessionTransfer.inquiry.json) {
            SessionTransferReport($0)
        }
    }

    /// The session that the daemon has, which a login replaces; nil if there is none, or the daemon does not tell.
    var replaced: ReplacedSession? {
        get async {
            guard case .own(let status)? = try? await client?.daemon(of: file) else { return nil }
            return status.identities.first { $0.name == identity }.flatMap(ReplacedSession.init)
        }
    }

    /// Requests an action of the daemon.
    ///
    /// - Parameters:
    ///   - resource: the action.
    ///   - body: the body of the request.
    ///   - limit: the longest time for the answer.
    ///   - reading: reads the answer; nil if it is unexpected.
    /// - Returns: the result of `reading`.
    /// - Throws: a failure of permission if no daemon answers, or the daemon's refusal.
    func ask<Value>(
        for resource: AdminResource, body: JSONValue? = nil,
        waitingAtMost limit: Duration = AdminClient.longestAction, _ reading: (JSONValue) -> Value?
    ) async throws(CommandFailure) -> Value {
        let subject = "\(identity): the daemon"
        // A process answers there within seconds, if there is one; an action may take longer.
        try await client?.checkPresence(before: resource, hasBody: body != nil)
        guard let client else { throw nobody }
        // Not one that has an identity of the same name, and nothing to do with the file.
        switch try await client.daemon(of: file) {
        case .own: break
        case .nobody: throw nobody
        case .anothers(_, let other): throw client.notOurs(other, for: file)
        case .fileless(let failure), .stranger(let failure): throw failure
        }
        switch try await client.post(resource, body: body?.serialized() ?? [], timeLimit: limit) {
        case .notRunning:
            throw nobody
        case .answered(let status, let body):
            guard 200...299 ~= status else {
                // Without the directory that we have not found the daemon can do no more.
                let code = AdminProblem(status: status, reading: body).code
                if storeFailure.status == .inputOutput, code == .storeUnavailable { throw storeFailure }
                throw client.refusal(status, body, of: subject)
            }
            guard let json = try? JSONValue(parsing: body), let value = reading(json) else {
                throw CommandFailure(
                    .unavailable,
                    "\(subject) gives an answer that nobody understands; is it of another version, or does another program "
                        + "listen at admin.listen?")
            }
            return value
        }
    }

    private var nobody: CommandFailure {
        CommandFailure(
            storeFailure.mayBeDaemons ? storeFailure.status : .permission,
            "\(storeFailure.message), and \(client?.nobody ?? AdminClient.nowhere(admin))")
    }
}

extension SessionStatus {
    /// True if there is something that a logout would end.
    fileprivate var hasSession: Bool {
        switch state {
        case .empty, .loginRequired: false
        case .authorized, .refreshing, .authorizationError, .misconfigured, .unavailable: true
        }
    }
}
