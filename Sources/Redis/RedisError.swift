// SPDX-License-Identifier: Apache-2.0

import OAuth

/// Why a Redis server did not do what it was told.
///
/// No case holds anything that was sent, and of what was received no more than the code of a refusal.
package enum RedisError: Error, Equatable, Sendable {
    /// There is no server, none that may be believed, or none that answers; with the key of the configuration that the
    /// fault may be in.
    case unreachable(server: String, reason: String, key: String?)
    /// It lets us in no further; only a person can change that.
    case denied(server: String, reason: String, key: String)
    /// It lets us in, but not do this; only a person can change that.
    case forbidden(server: String, RedisLack)
    /// It did not do it, for a reason of its own.
    case refused(server: String, code: RedisErrorCode)

    /// Whether the connection is of no more use.
    var endsConnection: Bool {
        switch self {
        case .unreachable, .denied: true
        case .forbidden: false
        // A server that has become a replica, is loading, or no more has a master.
        case .refused(_, let code):
            [.readOnly, .loading, .masterDown, .tooManyClients].contains(code)
        }
    }

    /// Judges an error reply to a command.
    ///
    /// - Parameter passwordKey: where the password comes from.
    init(
        reply code: RedisErrorCode, of server: RedisServer, passwordKey: String = RedisSettings.passwordKey
    ) {
        switch code {
        case .noAuthentication, .wrongPassword:
            self = .denied(
                server: "\(server)", reason: "does not take the password (\(code.rawValue))",
                key: passwordKey)
        case .noPermission: self = .forbidden(server: "\(server)", RedisLack(of: .right))
        case .unknownCommand: self = .forbidden(server: "\(server)", RedisLack(of: .command))
        case .denied:
            self = .denied(
                server: "\(server)", reason: "is in protected mode, and lets nobody in without a password",
                key: passwordKey)
        default: self = .refused(server: "\(server)", code: code)
        }
    }

    /// The same, with the command named where that may not be done.
    func naming(_ command: String) -> RedisError {
        guard case .forbidden(let server, var lack) = self else { return self }
        lack.command = command
        return .forbidden(server: server, lack)
    }
}

/// The keys of the configuration that errors name.
enum RedisKey {
    static let url = "store.url"
    static let sentinels = "store.sentinels"
    static let caFile = "store.ca_file"
    static let clientCertificateFile = "store.client_certificate_file"
}

extension RedisError {
    /// What a person reads of it, in one line.
    package var reason: String {
        switch self {
        case .unreachable(let server, let reason, let key):
            "\(server): \(reason)\(key.map { " (\($0))" } ?? "")"
        case .denied(let server, let reason, let key): "\(server) \(reason) (\(key))"
        case .forbidden(let server, let lack): "\(server) \(lack.reason) (\(RedisKey.url))"
        case .refused(let server, let code): "\(server) refuses with \(code.rawValue)\(Self.advice(on: code))"
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
