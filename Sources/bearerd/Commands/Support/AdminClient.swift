// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdCryptography
import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPMessages
import BearerdJSON
import BearerdSystem
import OAuth

/// A client of the running daemon's admin listener.
struct AdminClient {
    /// The result of a request.
    enum Answer {
        /// Nothing listens there.
        case notRunning
        /// The daemon's answer, of any status.
        case answered(status: Int, body: [UInt8])

        /// True for a key that is wrong, or missing.
        var isRefused: Bool {
            if case .answered(let status, _) = self { status == 403 || status == 429 } else { false }
        }
    }

    /// The longest time that the daemon may take for an action.
    static let longestAction: Duration = .seconds(120)

    private let url: HTTPURL
    private let key: SecretSource?
    /// The users to whom keys and sessions may be sent.
    private let owners: Set<UInt32>
    private let client: TransferClient
    /// The data listeners of the configuration, by which a daemon is found that listens elsewhere for us.
    private let listen: [ListenAddress]

    /// - Parameter listen: the data listeners of the configuration; none where they are not known.
    /// - Returns: nil if the configuration has no admin listener whose address is known.
    init?(_ admin: AdminConfiguration?, listen: [ListenAddress] = [], loop: EventLoop) {
        self.listen = listen
        guard let admin, let url = HTTPURL(asking: admin.listen) else { return nil }
        self.url = url
        key = admin.key
        owners = Set([CurrentProcess.effectiveUser, 0] + [admin.owner].compactMap(\.self))
        client = TransferClient(loop: loop)
    }

    /// Why no daemon can be asked through the admin listener of a configuration; nil if one can.
    static func obstacle(to address: ListenAddress?) -> String? {
        guard let address else {
            return
                "no admin listener is configured by which a daemon could be asked: add admin.listen, such as 127.0.0.1:9090"
        }
        guard HTTPURL(asking: address) == nil else { return nil }
        return
            "only the daemon knows where admin.listen (\(address)) is; commands find it at HOST:PORT and unix:PATH alone"
    }

    /// The message for a configuration whose admin listener cannot be asked.
    static func nowhere(_ admin: AdminConfiguration?) -> String {
        obstacle(to: admin?.listen) ?? "the admin listener cannot be asked (admin.listen)"
    }

    /// The message if nothing listens.
    var nobody: String {
        "no daemon answers at \(url.origin) (admin.listen); \(DaemonElsewhere.advice(listening: listen))"
    }

    /// The address of the status page.
    var page: String { "\(url.origin)/" }

    /// Reads a resource.
    func get(
        _ resource: AdminResource, timeLimit: Duration = .seconds(5)
    ) async throws(CommandFailure) -> Answer {
        try await send(.get, resource, timeLimit: timeLimit)
    }

    /// Who answers, for a command that names a configuration file.
    enum Daemon {
        case nobody
        /// The daemon of that file, or one that cannot be told from it.
        case own(StatusDocument)
        /// The daemon of another file.
        case anothers(StatusDocument, file: String)
        /// `bearerd demo` or `bearerd proxy`, which have the ports that a first configuration has, too.
        case fileless(CommandFailure)
        /// Another program, which tells no status.
        case stranger(CommandFailure)
    }

    /// Finds out whose daemon answers.
    ///
    /// - Parameter file: the configuration file of the command; nil if any daemon of a file will do.
    /// - Throws: a failure if what answers speaks no HTTP, or refuses the request.
    func daemon(
        of file: String?, timeLimit: Duration = .seconds(5)
    ) async throws(CommandFailure) -> Daemon {
        switch try await reply(timeLimit: timeLimit) {
        case .nobody: return .nobody
        case .stranger(let failure): return .stranger(failure)
        case .told(_, let status):
            if status.hasNoFile { return .fileless(fileless(status)) }
            guard let file, let other = status.otherFile(than: file) else { return .own(status) }
            return .anothers(status, file: other)
        }
    }

    /// Reads the status of a daemon that runs by a file, whichever.
    ///
    /// - Returns: nil if nothing listens.
    /// - Throws: a failure if another program listens, or the request is refused.
    func status() async throws(CommandFailure) -> StatusDocument? { try await told()?.1 }

    /// The status as the daemon of a file tells it, also unparsed, because a newer one may tell more than this program knows.
    func told() async throws(CommandFailure) -> (JSONValue, StatusDocument)? {
        switch try await reply(timeLimit: .seconds(5)) {
        case .nobody: return nil
        case .stranger(let failure): throw failure
        case .told(let document, let status):
            if status.hasNoFile { throw fileless(status) }
            return (document, status)
        }
    }

    /// The answer to the question for the status.
    private enum Reply {
        case nobody
        case told(JSONValue, StatusDocument)
        case stranger(CommandFailure)
    }

    private func reply(timeLimit: Duration) async throws(CommandFailure) -> Reply {
        switch try await get(.status, timeLimit: timeLimit) {
        case .notRunning: return .nobody
        case .answered(200, let body):
            guard let document = try? JSONValue(parsing: body), let status = StatusDocument(document) else {
                return .stranger(stranger("tells no status"))
            }
            return .told(document, status)
        case .answered(let status, let body):
            let failure = refusal(status, body, of: "the daemon")
            guard AdminProblem(status: status, reading: body).code == nil else { throw failure }
            return .stranger(failure)
        }
    }

    private func fileless(_ status: StatusDocument) -> CommandFailure {
        CommandFailure(
            .unavailable,
            "what answers at \(url.origin) (admin.listen) is 'bearerd demo' or 'bearerd proxy', "
                + "pid \(status.daemon?.processID ?? 0), and runs by no file: stop it, or give admin.listen another port"
        )
    }

    /// The failure of a command whose file is another one than that of the daemon that answers.
    func notOurs(_ other: String, for file: String) -> CommandFailure {
        CommandFailure(
            .unavailable,
            "the daemon at \(url.origin) (admin.listen) runs by \(other), not by \(file); name that one with -c, or give this "
                + "one an admin.listen of its own")
    }

    /// The failure for a request that was refused, by the daemon or by whoever listens in its place.
    func refusal(_ status: Int, _ body: [UInt8], of subject: String) -> CommandFailure {
        guard AdminProblem(status: status, reading: body).code == nil else {
            return CommandFailure(refusal: status, body, of: subject)
        }
        return stranger("gives status \(status) without a code of bearerd's")
    }

    /// The failure for an answer that is not bearerd's.
    func stranger(_ words: String) -> CommandFailure {
        CommandFailure(
            .unavailable,
            "what answers at \(url.origin) (admin.listen) \(words); is it another program?")
    }

    /// Requests an action.
    ///
    /// It waits longer than the daemon does, which may wait for another process's rotation and then for the
    /// provider.
    func post(
        _ resource: AdminResource, body: [UInt8] = [], timeLimit: Duration = longestAction
    ) async throws(CommandFailure) -> Answer {
        try await send(.post, resource, body: body, timeLimit: timeLimit)
    }

    private func send(
        _ method: HTTPMethod, _ resource: AdminResource, body: [UInt8] = [], timeLimit: Duration
    ) async throws(CommandFailure) -> Answer {
        let needsKey = needsKey(for: resource)
        let key = needsKey ? try readKey() : nil
        let holdsSecret = needsKey || !body.isEmpty
        let answer = try await send(
            method, resource, body: body, timeLimit: timeLimit, key: key, isConfidential: holdsSecret)
        // On loopback its own user needs none, and the daemon may know another key than the file has by now.
        guard key != nil, url.isLoopback, answer.isRefused else { return answer }
        let other = try await send(
            method, resource, body: body, timeLimit: timeLimit, key: nil, isConfidential: true)
        return other.isRefused ? answer : other
    }

    /// Finds out within seconds if a process answers there, of a user who may hear what an action sends.
    ///
    /// - Parameter hasBody: true if the action sends more than the key.
    func checkPresence(before resource: AdminResource, hasBody: Bool) async throws(CommandFailure) {
        // Longer than nobody may accept.
        _ = try await send(
            .get, .health, body: [], timeLimit: .seconds(10), key: nil,
            isConfidential: hasBody || needsKey(for: resource))
    }

    private func send(
        _ method: HTTPMethod, _ resource: AdminResource, body: [UInt8], timeLimit: Duration, key: Secret?,
        isConfidential: Bool
    ) async throws(CommandFailure) -> Answer {
        var fields = HTTPFields()
        fields[.bearerdAdmin] = "1"
        key?.withPlaintext { fields[.authorization] = "Bearer \($0)" }
        let request = TransferRequest(
            method: method, url: url.replacing(path: resource.path), fields: fields, body: body,
            timeLimit: timeLimit, maximumAnswerBytes: 16 << 20)
        do {
            let response = try await client.send(
                request, over: Transport(), heldBy: isConfidential ? owners : nil)
            return .answered(status: response.status, body: response.body)
        } catch {
            if case .notConnected = error { return .notRunning }
            if case .foreign(let user) = error { throw foreign(user) }
            throw CommandFailure(
                .unavailable,
                "the admin listener at \(url.origin): \(error.reason); \(Self.advice(on: error))")
        }
    }

    /// Returns true if there is a key, and the resource may need it.
    private func needsKey(for resource: AdminResource) -> Bool {
        key != nil && !resource.isOpen && (resource.changes || !url.isLoopback)
    }

    private func readKey() throws(CommandFailure) -> Secret? {
        do {
            return try key?.read()
        } catch {
            throw CommandFailure(.permission, "admin.key: \(error.reason)")
        }
    }

    private func foreign(_ user: PeerUser) -> CommandFailure {
        var name = ""
        var advice = "run the command where the daemon runs, or give admin.listen a Unix socket"
        if case .known(let number) = user {
            name = UserName.of(number).map { " (\($0))" } ?? ""
            advice = "if that is the daemon's user, say so by admin.owner"
        }
        return CommandFailure(
            .permission,
            "nothing was sent to \(url.origin) (admin.listen), which is not known to be yours, root's or admin.owner's: "
                + "\(user.words)\(name); \(advice)")
    }

    private static func advice(on error: TransferError) -> String {
        switch error {
        case .timedOut, .notConnected, .cancelled, .foreign, .tooFar, .withheld:
            "is the daemon that listens there (admin.listen) stopped, or overloaded?"
        case .unanswered, .interrupted, .tooLarge, .malformed, .other:
            "does another program listen there? look at admin.listen"
        }
    }
}

extension HTTPURL {
    /// The URL of a listener for a client on this machine; nil for a passed socket or an unknown port.
    fileprivate init?(asking address: ListenAddress) {
        switch address {
        case .tcp(_, 0), .systemd, .descriptor: return nil
        case .tcp("0.0.0.0", let port): self.init("http://127.0.0.1:\(port)")
        case .tcp("::", let port): self.init("http://[::1]:\(port)")
        case .tcp: self.init("http://\(address)")
        case .unix(let path): self.init("http+unix:\(path)")
        }
    }
}
