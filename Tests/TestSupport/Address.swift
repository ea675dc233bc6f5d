// SPDX-License-Identifier: Apache-2.0

/// The address of a listener of a test or of bearerd.
package enum Address: Hashable, Sendable, CustomStringConvertible {
    /// A port of 127.0.0.1.
    case tcp(port: UInt16)
    /// A socket in the file system.
    case unix(path: String)

    /// Parses an address as bearerd writes it: `127.0.0.1:43211` or `unix:/path`.
    package init?(_ text: String) {
        if text.hasPrefix("unix:") {
            self = .unix(path: String(text.dropFirst(5)))
        } else if let port = text.split(separator: ":").last.flatMap({ UInt16($0) }) {
            self = .tcp(port: port)
        } else {
            return nil
        }
    }

    /// The port, or 0 for a Unix socket.
    package var port: UInt16 {
        switch self {
        case .tcp(let port): port
        case .unix: 0
        }
    }

    package var description: String {
        switch self {
        case .tcp(let port): "127.0.0.1:\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }
}
