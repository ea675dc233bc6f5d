// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages
internal import BearerdSystem

extension ListenAddress {
    /// True if it is for TCP by its own words; of a socket that was passed nobody knows.
    package var isTCP: Bool {
        if case .tcp = self { true } else { false }
    }

    /// Returns true if connecting to an upstream would end at this listener.
    ///
    /// Asks no name server: `localhost` counts as either loopback address, and a wildcard listener as each of them.
    package func isReached(by upstream: HTTPURL, at connectTo: ConnectAddress?) -> Bool {
        switch self {
        case .unix(let path): return upstream.socketPath?.namesSocket(at: path) ?? false
        case .systemd, .descriptor: return false
        case .tcp(let host, let port):
            guard upstream.scheme != .unix, port != 0 else { return false }
            guard port == connectTo?.port ?? upstream.port else { return false }
            return Host(connectTo?.host ?? upstream.host).reaches(Host(host))
        }
    }

    /// Returns true if not both can be listened on; asks no name server.
    func overlaps(_ other: ListenAddress) -> Bool {
        switch (self, other) {
        case (.tcp(let host, let port), .tcp(let otherHost, let otherPort)):
            return port == otherPort && Host(host).overlaps(Host(otherHost))
        case (.unix(let path), .unix(let otherPath)): return path.namesSocket(at: otherPath)
        default: return self == other
        }
    }
}

extension String {
    /// Returns true if two paths are one name in one directory, however that is spelled, so that they lead to the same socket.
    fileprivate func namesSocket(at path: String) -> Bool {
        guard self != path else { return true }
        let (own, other) = (parts, path.parts)
        // The directory is looked at for a name that is the same alone.
        guard own.name == other.name, let one = try? FileSystem.status(of: own.directory),
            let two = try? FileSystem.status(of: other.directory)
        else { return false }
        return one.fingerprint.isSameFile(as: two.fingerprint)
    }

    private var parts: (directory: String, name: Substring) {
        let name = lastIndex(of: "/").map { self[index(after: $0)...] } ?? self[...]
        return (name.startIndex == startIndex ? "." : String(self[..<name.startIndex]), name)
    }
}

/// A host however it is spelled.
private enum Host: Equatable {
    /// The bytes of an IPv4 address, also in its IPv6 form, or of an IPv6 address.
    case address([UInt8])
    /// In lower case, without the dot at the end of an absolute name.
    case name(String)

    init(_ host: String) {
        if let bytes = IPAddress.bytes(of: host) {
            self = .address(bytes)
        } else {
            let name = host.lowercased()
            self = .name(name.hasSuffix(".") ? String(name.dropLast()) : name)
        }
    }

    /// Returns true if connecting to this host ends at a listener on another one.
    func reaches(_ listener: Host) -> Bool {
        if self == listener { return true }
        // Connecting to a wildcard address ends on loopback.
        let isOurs = isLoopback || isWildcard
        if listener.isWildcard { return isOurs }
        guard listener.isLoopback, isOurs else { return false }
        return isWildcard || isName || listener.isName
    }

    /// Returns true if a listener on one takes an address of the other; `localhost` counts as IPv4's alone, because not every
    /// machine has it for IPv6.
    func overlaps(_ other: Host) -> Bool {
        switch (self, other) {
        case (.name, .name): self == other
        case (.address(let one), .address(let two)):
            one == two || (one.count == two.count && (isWildcard || other.isWildcard))
        case (.name, .address(let bytes)):
            self == .name("localhost")
                && (IPAddress.bytes(of: "0.0.0.0") == bytes || IPAddress.bytes(of: "127.0.0.1") == bytes)
        case (.address, .name): other.overlaps(self)
        }
    }

    private var isName: Bool { if case .name = self { true } else { false } }

    /// True for the wildcard address of either family.
    private var isWildcard: Bool {
        if case .address(let bytes) = self { bytes.allSatisfy { $0 == 0 } } else { false }
    }

    private var isLoopback: Bool {
        switch self {
        case .address(let bytes): IPAddress.isLoopback(bytes)
        case .name(let name): IPAddress.isLoopback(host: name)
        }
    }
}
