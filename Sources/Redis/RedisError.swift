// SPDX-License-Identifier: Apache-2.0

import OAuth

/// A failure of a command in Redis; it holds nothing that was sent, and of the reply only the error code.
package enum RedisError: Error, Equatable, Sendable {
    /// No server answers, or none that may be trusted. `key` is the configuration key that may be at fault.
    case unreachable(server: String, reason: String, key: String?)
    /// The server refuses our login; only a person can change that.
    case denied(server: String, reason: String, key: String)
    /// The server refuses this command; only a person can change that.
    case forbidden(server: String, MissingRedisRight)
    /// The server refused the command for a reason of its own.
    case refused(server: String, code: RedisErrorCode)

    /// True if the connection is of no more use.
    var endsConnection: Bool {
        switch self {
        case .unreachable, .denied: true
        case .forbidden: false
        // The server has become a replica, is loading, or has lost its master.
        case .refused(_, let code):
            [.readOnly, .loading, .masterDown, .tooManyClients].contains(code)
        }
    }

    /// Makes an error of an error reply.
    ///
    /// - Parameter passwordKey: the configuration key of the password.
    init(
        reply code: RedisErrorCode, of server: RedisServer, passwordKey: String = RedisSettings.passwordKey
    ) {
        switch code {
        case .noAuthentication, .wrongPassword:
            self = .denied(
                server: "\(server)", reason: "does not take the password (\(code.rawValue))",
                key: passwordKey)
        case .noPermission: self = .forbidden(server: "\(server)", MissingRedisRight(of: .right))
        case .unknownCommand: self = .forbidden(server: "\(server)", MissingRedisRight(of: .command))
        case .denied:
            self = .denied(
                server: "\(server)", reason: "is in protected mode, and lets nobody in without a password",
                key: passwordKey)
        default: self = .refused(server: "\(server)", code: code)
        }
    }

    /// Returns this error with the command that was not allowed, for a missing right; else this error
    /// unchanged.
    func naming(_ command: String) -> RedisError {
        guard case .forbidden(let server, var missing) = self else { return self }
        missing.command = command
        return .forbidden(server: server, missing)
    }
}

/// The configuration keys that errors name.
enum RedisKey {
    static let url = "store.url"
    static let sentinels = "store.sentinels"
    static let caFile = "store.ca_file"
    static let clientCertificateFile = "store.client_certificate_file"
}

extension RedisError {
    /// A sentence for people, in one line.
    package var reason: String {
        switch self {
        case .unreachable(let server, let reason, let key):
            "\(server): \(reason)\(key.map { " (\($0))" } ?? "")"
        case .denied(let server, let reason, let key): "\(server) \(reason) (\(key))"
        case .forbidden(let server, let missing): "\(server) \(missing.reason) (\(RedisKey.url))"
        case .refused(let server, let code): "\(server) refuses with \(code.rawValue)\(Self.advice(on: code))"
        }
    }

    /// The command or the key that helps; nil where the server must be reached first.
    package var remedy: String? {
        switch self {
        case .unreachable(_, _, let key): key.map { "mend \($0), or start and reach that server" }
        case .denied(_, _, let key) where key != RedisKey.url: "mend \(key), or the user of that server"
        case .denied:
            "mend \(RedisKey.url), or give its user that right with ACL SETUSER, as docs/operations.md lists them all"
        case .forbidden:
            "give the user of \(RedisKey.url) that right with ACL SETUSER, as docs/operations.md lists them all"
        case .refused(_, let code): Self.remedy(of: code)
        }
    }

    private static func remedy(of code: RedisErrorCode) -> String? {
        switch code {
        case .readOnly: "name the master in \(RedisKey.url), or \(RedisKey.sentinels) in its place"
        case .outOfMemory: "raise its maxmemory, or name a Redis for sessions alone in \(RedisKey.url)"
        case .misconfigured: "make room on its disk, or let it write there"
        case .tooFewReplicas: "start its replicas, or lower its min-replicas-to-write"
        case .busy: "SCRIPT KILL at that server"
        case .tooManyClients: "raise its maxclients"
        case .loading: "wait until it has read its disk"
        case .masterDown: "start its master, or name \(RedisKey.sentinels)"
        case .moved, .crossSlot, .clusterDown:
            "name a server in \(RedisKey.url) that is not part of a cluster"
        default: nil
        }
    }

    private static func advice(on code: RedisErrorCode) -> String {
        switch code {
        case .readOnly: ": it is a replica"
        case .outOfMemory: ": its memory is full"
        case .misconfigured: ": it cannot write to its disk"
        case .tooFewReplicas: ": fewer replicas follow it than its min-replicas-to-write"
        case .busy: ": somebody's script keeps it busy, which SCRIPT KILL ends"
        case .tooManyClients: ": raise its maxclients"
        case .loading: ": it still reads its disk"
        case .moved, .crossSlot, .clusterDown: ": clusters are not supported"
        default: ""
        }
    }
}

extension StoreError {
    init(_ error: RedisError) {
        switch error {
        case .unreachable: self = .unreachable(error.reason)
        case .denied: self = .denied(error.reason)
        case .forbidden: self = .forbidden(error.reason)
        case .refused: self = error.endsConnection ? .unreachable(error.reason) : .unavailable(error.reason)
        }
    }
}
