// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// A Redis server and our user there (`store.url`): `redis://USER@HOST:PORT/DB`, `rediss://` over TLS, or
/// `redis+unix:/PATH`.
package struct RedisLocation: Hashable, Sendable {
    package enum Place: Hashable, Sendable {
        /// A name or address, an IPv6 one without brackets.
        case tcp(host: String, port: UInt16)
        /// A Unix socket's path.
        case unix(path: String)
    }

    package let place: Place
    /// True if TLS is used.
    package let isEncrypted: Bool
    /// The user to log in as; nil for Redis's default user.
    package let user: String?
    /// The database's number.
    package let database: Int

    static let port: UInt16 = 6379
    /// More than any server has.
    private static let mostDatabases = 1 << 20

    private static var noForm: ValueError {
        ValueError("is not redis://[USER@]HOST[:PORT][/DB], rediss://… or redis+unix:/PATH")
    }

    /// Reads one of the forms; the path of a socket may be relative to the configuration's directory.
    init(_ text: String, in reading: Reading) throws(ValueError) {
        let socket = "redis+unix:"
        if text.hasPrefix(socket) {
            let path = reading.resolved(String(text.dropFirst(socket.count)))
            guard path.hasPrefix("/"), path.utf8.count <= ListenAddress.longestSocketPath
            else { throw Self.noForm }
            place = .unix(path: path)
            (isEncrypted, user, database) = (false, nil, 0)
            return
        }
        let schemes = [("redis://", false), ("rediss://", true)]
        guard let (scheme, isEncrypted) = schemes.first(where: { text.hasPrefix($0.0) })
        else { throw Self.noForm }
        let rest = text.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" }
        let path = rest.dropFirst(authority.count)
        var address = authority
        var user: String?
        if let at = authority.lastIndex(of: "@") {
            let name = authority[..<at]
            guard !name.contains(":") else {
                throw ValueError(
                    "holds a password: give that as store.password_file, and the user alone here")
            }
            guard !name.isEmpty, name.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "%") })
            else { throw Self.noForm }
            user = String(name)
            address = authority[authority.index(after: at)...]
        }
        guard let pattern = HostPattern(String(address)) else { throw Self.noForm }
        place = .tcp(host: pattern.host, port: pattern.port ?? Self.port)
        self.isEncrypted = isEncrypted
        self.user = user
        let digits = path.dropFirst()
        guard !digits.isEmpty else {
            database = 0
            return
        }
        guard digits.utf8.allSatisfy(\.isDigit), let number = Int(digits), number < Self.mostDatabases
        else { throw Self.noForm }
        database = number
    }
}

extension RedisLocation: CustomStringConvertible {
    /// The URL without the user.
    package var description: String {
        switch place {
        case .unix(let path): "redis+unix:\(path)"
        case .tcp(let host, let port):
            "\(isEncrypted ? "rediss" : "redis")://\(ListenAddress.tcp(host: host, port: port))"
                + (database == 0 ? "" : "/\(database)")
        }
    }
}

extension ValueKind<RedisLocation> {
    static func redisLocation(in reading: Reading) -> ValueKind {
        ValueKind { scalar throws(ValueError) in try RedisLocation(scalar.text, in: reading) }
    }
}
