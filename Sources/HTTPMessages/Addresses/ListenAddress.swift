// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// The address of a listener: `HOST:PORT`, `unix:PATH`, `systemd:NAME` or `fd:N`.
package enum ListenAddress: Hashable, Sendable {
    /// A name or address, an IPv6 one without brackets, and a port; 0 for any free one.
    case tcp(host: String, port: UInt16)
    /// A Unix socket's path.
    case unix(path: String)
    /// A socket that systemd passes under this name (`FileDescriptorName=`).
    case systemd(name: String)
    /// An inherited socket with this descriptor.
    case descriptor(Int32)

    /// Reads one of the four forms.
    package init?(_ text: String) {
        let bytes = text.utf8.span
        guard let colon = bytes.firstIndex(of: Byte.colon, in: 0..<bytes.count) else { return nil }
        let rest = String(Substring(text.utf8.dropFirst(colon + 1)))
        switch String(Substring(text.utf8.prefix(colon))) {
        case "unix":
            guard !rest.isEmpty, rest.utf8.count <= Self.longestSocketPath, !rest.utf8.contains(0)
            else { return nil }
            self = .unix(path: rest)
        case "systemd":
            guard !rest.isEmpty, !rest.utf8.contains(Byte.colon), rest.utf8.allSatisfy({ $0 > Byte.space })
            else { return nil }
            self = .systemd(name: rest)
        case "fd":
            guard rest.utf8.allSatisfy(\.isDigit), let number = Int32(rest) else { return nil }
            self = .descriptor(number)
        default:
            guard let (range, digits) = Authority.split(bytes),
                let port = Authority.port(bytes.extracting(digits))
            else { return nil }
            let name = Array(text.utf8)[range]
            let bare = name.first == Byte.leftBracket ? name.dropFirst().dropLast() : name
            let written = String(decoding: bare, as: UTF8.self)
            // An IPv6 socket takes no IPv4 address.
            let address = written.contains(":") ? IPAddress.bytes(of: written) ?? [] : []
            let host = address.count == 4 ? address.map { "\($0)" }.joined(separator: ".") : written
            self = .tcp(host: host, port: port)
        }
    }

    /// The room in `sockaddr_un`, without the NUL.
    package static var longestSocketPath: Int { 107 }

    /// True if another process binds the socket and passes it to us.
    package var isPassed: Bool {
        switch self {
        case .tcp, .unix: false
        case .systemd, .descriptor: true
        }
    }

    /// True if only this machine can reach it, and for passed sockets, whose address is known only later.
    package var isLoopback: Bool {
        switch self {
        case .tcp(let host, _): IPAddress.isLoopback(host: host)
        case .unix, .systemd, .descriptor: true
        }
    }
}

extension ListenAddress: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tcp(let host, let port):
            host.utf8.contains(Byte.colon) ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        case .systemd(let name): "systemd:\(name)"
        case .descriptor(let number): "fd:\(number)"
        }
    }
}
