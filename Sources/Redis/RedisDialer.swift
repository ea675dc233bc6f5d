// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdEventLoop
import BearerdHTTPClient
internal import BearerdHTTPExchange
import BearerdRESP
import OAuth

/// Opens connections to the present master, confined to its loop's thread.
final class RedisDialer {
    private let settings: RedisSettings
    private let loop: EventLoop
    private let multis: CurlMultiSet
    /// The sentinels in the order in which they are asked: the one that led to the master last comes first.
    private var sentinels: [RedisServer]

    init(_ settings: RedisSettings, loop: EventLoop) {
        self.settings = settings
        self.loop = loop
        multis = CurlMultiSet(loop: loop)
        sentinels = settings.sentinels
    }

    /// A connection to the master, logged in and with our database selected.
    func connect() async throws(RedisError) -> RedisConnection {
        guard !sentinels.isEmpty else { return try await connect(toMasterAt: settings.server) }
        var failure = RedisError.unreachable(
            server: "\(settings.server)", reason: "there are no sentinels", key: RedisKey.sentinels)
        for sentinel in sentinels {
            do throws(RedisError) {
                let connection = try await connect(toMasterAt: try await master(by: sentinel))
                prefer(sentinel)
                return connection
            } catch {
                failure = error
            }
        }
        throw failure
    }

    /// Asks the sentinels until one names another master than `server`, and connects by that one from then on.
    ///
    /// The sentinel that led to a server may be cut off together with it, and goes on naming it.
    ///
    /// - Returns: false if none does.
    func findMaster(otherThan server: RedisServer) async -> Bool {
        for sentinel in sentinels {
            guard let master = try? await master(by: sentinel), master != server else { continue }
            prefer(sentinel)
            return true
        }
        return false
    }

    private func prefer(_ sentinel: RedisServer) {
        sentinels.removeAll { $0 == sentinel }
        sentinels.insert(sentinel, at: 0)
    }

    /// Asks a sentinel where the master is.
    private func master(by sentinel: RedisServer) async throws(RedisError) -> RedisServer {
        let deadline = ContinuousClock.now + settings.connectLimit
        let connection = try await open(sentinel, by: deadline, place: RedisKey.sentinels)
        defer { connection.close() }
        let question = RESPCommand("SENTINEL", "get-master-addr-by-name", settings.masterName)
        var reply = try await connection.reply(to: question, by: deadline)
        if reply.refusal == .noAuthentication || reply.refusal == .noPermission {
            try await logIn(onSentinelAt: connection, by: deadline)
            reply = try await connection.reply(to: question, by: deadline)
        }
        if let code = reply.refusal { throw connection.error(code) }
        guard let words = reply.array, words.count == 2, let host = words[0].text,
            let port = words[1].text.flatMap({ UInt16($0) }),
            let master = RedisServer(host: host, port: port, isEncrypted: sentinel.url.scheme == .https)
        else {
            throw .unreachable(
                server: "\(sentinel)", reason: "this sentinel knows no master '\(settings.masterName)'",
                key: RedisKey.sentinels)
        }
        return master
    }

    private func connect(toMasterAt server: RedisServer) async throws(RedisError) -> RedisConnection {
        let deadline = ContinuousClock.now + settings.connectLimit
        let connection = try await open(
            server, by: deadline, place: settings.sentinels.isEmpty ? RedisKey.url : RedisKey.sentinels)
        do throws(RedisError) {
            try await logIn(on: connection, as: settings.user, by: deadline)
            if settings.database != 0 {
                let reply = try await connection.reply(
                    to: RESPCommand("SELECT", "\(settings.database)"), by: deadline)
                if reply.refusal == .general {
                    throw RedisError.denied(
                        server: "\(server)", reason: "has no database \(settings.database)", key: RedisKey.url
                    )
                }
                if let code = reply.refusal {
                    throw connection.error(code).naming("SELECT")
                }
            }
            let role = try await connection.reply(to: RESPCommand("ROLE"), by: deadline)
            if let code = role.refusal { throw connection.error(code).naming("ROLE") }
            guard role.array?.first?.text == "master" else {
                throw RedisError.unreachable(
                    server: "\(server)", reason: "is not the master: nothing can be written there",
                    key: settings.sentinels.isEmpty ? RedisKey.url : RedisKey.sentinels)
            }
            return connection
        } catch {
            connection.close()
            guard case .forbidden(let server, let missing) = error else { throw error }
            throw .denied(server: server, reason: missing.reason, key: RedisKey.url)
        }
    }

    /// Logs in with our user's name, or with the password alone if the sentinel does not know the name: many have no
    /// users.
    private func logIn(
        onSentinelAt connection: RedisConnection, by deadline: ContinuousClock.Instant
    ) async throws(RedisError) {
        do throws(RedisError) {
            try await logIn(on: connection, as: settings.user, by: deadline)
        } catch {
            guard settings.user != nil, case .denied = error else { throw error }
            try await logIn(on: connection, as: nil, by: deadline)
        }
    }

    private func logIn(
        on connection: RedisConnection, as user: String?, by deadline: ContinuousClock.Instant
    ) async throws(RedisError) {
        let password = try await password(for: connection.server, by: deadline)
        guard password != nil || user != nil else { return }
        var words = [Array("AUTH".utf8)]
        if let user { words.append(Array(user.utf8)) }
        words.append(password?.plaintextBytes ?? [])
        let reply = try await connection.reply(to: RESPCommand(words), by: deadline)
        guard let code = reply.refusal else { return }
        // A server that wants no password replies with a general error.
        if code == .general {
            throw .denied(
                server: "\(connection.server)", reason: "takes no password of this user (ERR)",
                key: settings.passwordKey)
        }
        throw connection.error(code)
    }

    /// Reads the password, within a limit in case the disk does not answer.
    private func password(
        for server: RedisServer, by deadline: ContinuousClock.Instant
    ) async throws(RedisError) -> Secret? {
        let read = settings.password
        guard let outcome = await loop.value(within: deadline - .now, of: { await read() }) else {
            throw .unreachable(
                server: "\(server)", reason: "is not asked: the password could not be read in time",
                key: settings.passwordKey)
        }
        do throws(CredentialError) {
            return try outcome.get()
        } catch {
            throw .denied(
                server: "\(server)", reason: "is not asked: \(error.reason)", key: settings.passwordKey)
        }
    }

    /// - Parameter place: the configuration key that `server` comes from.
    private func open(
        _ server: RedisServer, by deadline: ContinuousClock.Instant, place: String
    ) async throws(RedisError) -> RedisConnection {
        let prepare = settings.prepare
        guard let trust = await loop.value(within: deadline - .now, of: { await prepare() }) else {
            throw .unreachable(
                server: "\(server)", reason: "is not asked: certificates could not be read in time",
                key: "\(RedisKey.clientCertificateFile), \(RedisKey.caFile)")
        }
        do throws(UpstreamError) {
            return try await connected(
                to: server, trusting: trust, within: max(deadline - .now, .milliseconds(1)))
        } catch {
            if await speaksNoTLS(server, where: error) {
                throw .unreachable(
                    server: "\(server)",
                    reason: "it speaks no TLS on this port: name the one where it does, or make it redis://",
                    key: settings.sentinels.isEmpty ? RedisKey.url : "\(RedisKey.url), \(RedisKey.sentinels)")
            }
            throw .unreachable(
                server: "\(server)", reason: error.reason, key: Self.key(of: error, place: place))
        }
    }

    private func connected(
        to server: RedisServer, trusting trust: TrustStore? = nil, within limit: Duration
    ) async throws(UpstreamError) -> RedisConnection {
        var transport = settings.transport
        if let trust { transport.trust = trust }
        let connector = UpstreamConnector(
            address: UpstreamAddress(url: server.url, transport: transport), multis: multis)
        return RedisConnection(
            try await connector.connect(within: limit), to: server, passwordKey: settings.passwordKey)
    }

    /// The time that a server gets to answer without TLS after TLS failed.
    private static let plainLimit: Duration = .seconds(1)

    /// Returns true if a server answers without TLS after TLS failed: a plain server waits for a line end, which a
    /// TLS greeting need not contain.
    private func speaksNoTLS(_ server: RedisServer, where error: UpstreamError) async -> Bool {
        guard server.url.scheme == .https,
            [.connectionTimeout, .greetingTimeout(of: .tls), .tlsHandshake].contains(error),
            let plain = RedisServer(host: server.url.host, port: server.url.port, isEncrypted: false),
            let connection = try? await connected(to: plain, within: Self.plainLimit)
        else { return false }
        defer { connection.close() }
        return (try? await connection.reply(to: RESPCommand("PING"), by: .now + Self.plainLimit)) != nil
    }

    private static func key(of error: UpstreamError, place: String) -> String {
        switch error {
        case .tlsCertificate: RedisKey.caFile
        case .tlsHandshake, .clientCertificate: RedisKey.clientCertificateFile
        case .connectionRefused, .connectionTimeout, .greetingTimeout, .unreachable, .dnsError, .dnsTimeout,
            .proxy, .noCommonProtocol, .weakCipher, .otherProtocol, .headTooLarge, .declined,
            .noDescriptors, .noThreads, .busy, .cancelled, .other:
            place
        }
    }
}
