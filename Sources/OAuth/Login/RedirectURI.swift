// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// The redirect URI of logins (RFC 6749 §3.1.2); on loopback its port may be left open (RFC 8252 §7.3).
///
/// The text is kept exactly, because servers compare it so.
package struct RedirectURI: Hashable, Sendable {
    /// The scheme, `http` on loopback.
    package let scheme: HTTPURL.Scheme
    /// A name or address in lower case, an IPv6 one without brackets.
    package let host: String
    /// 0 for any free one.
    package let port: UInt16
    /// At least `/`.
    package let path: String
    /// True if only a browser on this machine can follow it.
    package let isLoopback: Bool
    /// The text up to the port, if that is 0; else all of it.
    private let head: String
    private let tail: String

    /// The redirect URI if none is configured.
    package static let standard = RedirectURI(
        scheme: .http, host: "127.0.0.1", port: 0, path: "/callback", isLoopback: true,
        head: "http://127.0.0.1",
        tail: "/callback")

    /// Reads a URL whose port may be 0.
    ///
    /// - Returns: nil for anything but an `http` or `https` URL.
    package init?(_ text: String) {
        guard let scheme = text.utf8.firstIndex(of: UInt8(ascii: ":")), text[scheme...].hasPrefix("://")
        else {
            return nil
        }
        let authority = text[text.index(scheme, offsetBy: 3)...].prefix { $0 != "/" && $0 != "?" }
        let takesAnyPort = authority.hasSuffix(":0")
        let head = text[..<authority.endIndex].dropLast(takesAnyPort ? 2 : 0)
        let tail = text[authority.endIndex...]
        guard let url = HTTPURL(String(head + tail)) else { return nil }
        self.init(
            scheme: url.scheme, host: url.host, port: takesAnyPort ? 0 : url.port,
            path: url.path.isEmpty ? "/" : url.path, isLoopback: url.isLoopback,
            head: takesAnyPort ? String(head) : text,
            tail: takesAnyPort ? String(tail) : "")
    }

    private init(
        scheme: HTTPURL.Scheme, host: String, port: UInt16, path: String, isLoopback: Bool, head: String,
        tail: String
    ) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.path = path
        self.isLoopback = isLoopback
        self.head = head
        self.tail = tail
    }

    /// The URI for a request, with the port `free` if its own is 0.
    package func text(port free: UInt16) -> String {
        port == 0 ? "\(head):\(free)\(tail)" : head
    }

    /// The URI to register, without a port if any will do (RFC 8252 §7.3).
    package var registered: String { head + tail }

    /// The values that `Host` may have in a request to this URI.
    package func hosts(port free: UInt16) -> [String] {
        let name = host.contains(":") ? "[\(host)]" : host
        let port = port == 0 ? free : port
        let isUsual = scheme == .https ? port == 443 : port == 80
        return isUsual ? [name, "\(name):\(port)"] : ["\(name):\(port)"]
    }
}

extension RedirectURI: CustomStringConvertible {
    /// The URI as it was given.
    package var description: String { text(port: 0) }
}
