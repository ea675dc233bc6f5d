// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import OAuth

extension ValueKind<ListenAddress> {
    /// `HOST:PORT`, `unix:PATH`, `systemd:NAME` or `fd:N`; a relative path is in the configuration's directory.
    static func listenAddress(in reading: Reading) -> ValueKind {
        listenAddress.map { address throws(ValueError) in
            guard case .unix(let path) = address else { return address }
            if let objection = path.objectionToTilde { throw ValueError(objection) }
            let whole = reading.resolved(path)
            guard whole.utf8.count <= ListenAddress.longestSocketPath else { throw tooLong(whole) }
            return .unix(path: whole)
        }
    }

    /// The four forms as they are written.
    private static var listenAddress: ValueKind {
        ValueKind(.text(form: "HOST:PORT, unix:PATH, systemd:NAME or fd:N")) { scalar throws(ValueError) in
            guard let address = ListenAddress(scalar.text) else {
                if scalar.text.hasPrefix("unix:"), scalar.text.utf8.count > ListenAddress.longestSocketPath {
                    throw tooLong(String(scalar.written.dropFirst("unix:".count)))
                }
                throw ValueError("'\(scalar.written)' is not HOST:PORT, unix:PATH, systemd:NAME or fd:N")
            }
            return address
        }
    }

    private static func tooLong(_ path: String) -> ValueError {
        ValueError(
            "\(path) is too long: a socket's path has \(ListenAddress.longestSocketPath) bytes at most")
    }

    static var loopbackAddress: ValueKind {
        listenAddress.map { address throws(ValueError) in
            guard case .tcp = address, address.isLoopback
            else { throw ValueError("must be a loopback HOST:PORT, like 127.0.0.1:9000") }
            return address
        }
    }

    /// `HOST:PORT`, for a redirect.
    static var redirectListen: ValueKind {
        listenAddress.map { address throws(ValueError) in
            guard case .tcp = address else { throw ValueError("must be HOST:PORT, like 0.0.0.0:8400") }
            return address
        }
    }
}

extension ValueKind<RedirectURI> {
    /// An `http` or `https` URL whose port may be 0.
    static var redirectURI: ValueKind {
        reading("a URL like http://127.0.0.1:0/callback") { RedirectURI($0) }
    }
}

extension ValueKind<HTTPURL> {
    /// An `http` or `https` URL.
    static var url: ValueKind {
        reading("an http or https URL") { text in HTTPURL(text).flatMap { $0.scheme == .unix ? nil : $0 } }
    }

    /// `http(s)://HOST[:PORT][/PREFIX]` or `http+unix:PATH`; a relative path is in the configuration's directory.
    static func upstream(in reading: Reading) -> ValueKind {
        ValueKind(.text(form: "http(s)://HOST[:PORT][/PREFIX] or http+unix:PATH")) {
            scalar throws(ValueError) in
            let socket = "\(HTTPURL.Scheme.unix.rawValue):"
            let path = scalar.text.hasPrefix(socket) ? scalar.text.dropFirst(socket.count) : ""
            if let objection = String(path).objectionToTilde { throw ValueError(objection) }
            let text = path.isEmpty ? scalar.text : socket + reading.resolved(String(path))
            guard let url = HTTPURL(text), url.query == nil else {
                throw ValueError(
                    "'\(scalar.written)' is not http(s)://HOST[:PORT][/PREFIX] or http+unix:PATH")
            }
            guard !url.path.hasPrefix("//") else {
                throw ValueError(
                    "'\(scalar.written)': a prefix that begins with two slashes would name a host to some servers"
                )
            }
            guard url.socketPath?.utf8.count ?? 0 <= ListenAddress.longestSocketPath
            else { throw ValueError("a socket's path has \(ListenAddress.longestSocketPath) bytes at most") }
            return url
        }
    }
}

extension ValueKind<HostPattern> {
    static var hostPattern: ValueKind {
        ValueKind(.text(form: "a host or host:port")) { scalar throws(ValueError) in
            guard let pattern = HostPattern(scalar.text)
            else { throw ValueError("'\(scalar.written)' is not a host or host:port") }
            guard !pattern.host.contains("*")
            else { throw ValueError("'\(scalar.written)': there are no wildcards; give each host") }
            return pattern
        }
    }
}

extension ValueKind<ConnectAddress> {
    static var connectAddress: ValueKind { reading("HOST:PORT") { ConnectAddress($0) } }
}

extension ValueKind<String> {
    /// A web origin (RFC 6454 §6.2): scheme, `://` and authority; `null` is nobody's.
    static var origin: ValueKind {
        text.map { text throws(ValueError) in
            guard !text.utf8.contains(UInt8(ascii: "*"))
            else { throw ValueError("has a '*', and there are no wildcards: give each origin") }
            let origin = text.lowercased()
            let parts = origin.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let scheme = parts.first, let authority = parts.last,
                !scheme.isEmpty,
                scheme.utf8.allSatisfy({ $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "-") }),
                HostPattern(String(authority)) != nil
            else { throw ValueError("is not an origin like https://app.example.com") }
            // Browsers leave the scheme's default port out.
            return HTTPURL(origin)?.origin ?? origin
        }
    }
}
