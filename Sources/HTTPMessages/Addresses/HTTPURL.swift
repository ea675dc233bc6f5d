// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// An `http`, `https` or `http+unix` URL (RFC 3986), without user information and fragment.
///
/// Scheme and host are lower-case; path and query are kept as written.
public struct HTTPURL: Hashable, Sendable {
    /// The schemes bearerd connects with.
    public enum Scheme: String, Sendable {
        /// Plain TCP.
        case http
        /// TLS.
        case https
        /// A Unix socket: `http+unix:PATH`.
        case unix = "http+unix"
    }

    /// The way to connect.
    public private(set) var scheme: Scheme
    /// The host's name or address in lower case, an IPv6 address without brackets; `localhost` for a Unix socket.
    public let host: String
    /// The port, explicit or the scheme's; 0 for a Unix socket.
    public let port: UInt16
    /// The path as written, perhaps empty; empty for a Unix socket unless it was replaced.
    public private(set) var path: String
    /// The part after the `?`; nil without one.
    public private(set) var query: String?
    /// The Unix socket's absolute path; nil for the other schemes.
    package let socketPath: String?

    /// Reads a URL strictly.
    ///
    /// - Returns: nil unless it is an absolute URL of these schemes, with only characters that RFC 3986 allows.
    public init?(_ text: String) {
        let bytes = text.utf8.span
        guard let colon = bytes.firstIndex(of: Byte.colon, in: 0..<bytes.count) else { return nil }
        guard let scheme = Scheme(rawValue: text.utf8.prefix(colon).lowercasedText) else { return nil }
        let rest = text.utf8.dropFirst(colon + 1)
        switch scheme {
        case .unix: self.init(socket: rest)
        case .http, .https: self.init(scheme, rest)
        }
    }

    /// This URL in plain HTTP with the same port, for a connection whose encryption is made separately.
    package var withoutTLS: HTTPURL {
        var url = self
        url.scheme = .http
        return url
    }

    private init?(socket path: Substring.UTF8View) {
        guard path.first == Byte.slash, path.allSatisfy({ $0 >= Byte.space && $0 != Byte.delete })
        else { return nil }
        scheme = .unix
        host = "localhost"
        port = 0
        self.path = ""
        query = nil
        socketPath = String(Substring(path))
    }

    private init?(_ scheme: Scheme, _ rest: Substring.UTF8View) {
        guard rest.starts(with: [Byte.slash, Byte.slash]) else { return nil }
        let hierarchical = rest.dropFirst(2)
        let end =
            hierarchical.firstIndex { $0 == Byte.slash || $0 == Byte.questionMark } ?? hierarchical.endIndex
        let authority = Array(hierarchical[..<end])
        guard let parts = Authority.split(authority.span) else { return nil }
        let tail = hierarchical[end...]
        let mark = tail.firstIndex(of: Byte.questionMark) ?? tail.endIndex
        guard Self.isValid(tail) else { return nil }
        self.scheme = scheme
        let name = authority[parts.host]
        host = (name.first == Byte.leftBracket ? name.dropFirst().dropLast() : name).lowercasedText
        guard !parts.port.isEmpty || parts.host.upperBound == authority.count else { return nil }
        port = Authority.port(authority[parts.port].span) ?? Self.defaultPort(of: scheme)
        guard port > 0 else { return nil }
        path = String(Substring(tail[..<mark]))
        query = mark == tail.endIndex ? nil : String(Substring(tail[mark...].dropFirst()))
        socketPath = nil
    }

    /// Returns true if every byte may stand in a path or query (RFC 3986 §3.3, §3.4).
    private static func isValid(_ tail: Substring.UTF8View) -> Bool {
        var digits = 0
        for byte in tail {
            if digits > 0 {
                guard byte.hexadecimalValue != nil else { return false }
                digits -= 1
            } else if byte == Byte.percent {
                digits = 2
            } else if !byte.isPathCharacter {
                return false
            }
        }
        return digits == 0
    }

    private static func defaultPort(of scheme: Scheme) -> UInt16 {
        switch scheme {
        case .http: 80
        case .https: 443
        case .unix: 0
        }
    }
}

extension HTTPURL: CustomStringConvertible {
    /// `host`, with brackets around an IPv6 address, and `:port` unless it is the scheme's: the value of `Host`.
    public var authority: String {
        let name = host.utf8.contains(Byte.colon) ? "[\(host)]" : host
        return port == Self.defaultPort(of: scheme) ? name : "\(name):\(port)"
    }

    /// Scheme and authority (RFC 6454 §6.2); for a Unix socket the URL itself.
    public var origin: String {
        socketPath.map { "\(scheme.rawValue):\($0)" } ?? "\(scheme.rawValue)://\(authority)"
    }

    /// The path, at least `/`, and the query: a request target in origin-form (RFC 9112 §3.2.1).
    public var target: String { (path.isEmpty ? "/" : path) + (query.map { "?\($0)" } ?? "") }

    /// This URL with another path and without a query; a Unix socket gets a path too, although its text has
    /// none.
    ///
    /// - Parameter path: begins with a slash; characters that RFC 3986 wants percent-encoded must be encoded.
    package func replacing(path: String) -> HTTPURL {
        var url = self
        (url.path, url.query) = (path, nil)
        return url
    }

    /// True for this machine: 127.0.0.0/8, `::1`, `localhost`, `*.localhost`, or a Unix socket.
    public var isLoopback: Bool { scheme == .unix || IPAddress.isLoopback(host: host) }

    /// True if a name server may be asked for the host: it is neither an address nor this machine.
    package var hasName: Bool { !isLoopback && !IPAddress.isAddress(host) }

    /// The URL as text.
    public var description: String { origin + path + (query.map { "?\($0)" } ?? "") }
}

extension Collection<UInt8> {
    fileprivate var lowercasedText: String { String(decoding: map(\.asciiLowercased), as: UTF8.self) }
}

extension UInt8 {
    /// True for the characters of a path or query except `%` (RFC 3986): `pchar`, `/` and `?`.
    fileprivate var isPathCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x24, 0x26...0x2F, 0x3A, 0x3B, 0x3D, 0x3F, 0x40, 0x5F, 0x7E: true
        default: false
        }
    }
}
