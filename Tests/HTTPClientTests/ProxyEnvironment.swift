// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc

/// The proxy in every test's environment, which only a transfer may use that asks for the environment's
/// proxy.
final class ProxyEnvironment: Sendable {
    static let shared: ProxyEnvironment? = try? ProxyEnvironment()

    let proxy: TunnellingProxy

    private init() throws {
        proxy = try TunnellingProxy()
        signal(SIGPIPE, SIG_IGN)  // the test's TLS servers write to whom they like; bearerd ignores it too
    }

    /// Sets the environment, which tests of other programs' ways may have emptied.
    func enter() {
        for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            setenv(name, proxy.url, 1)
        }
        setenv("no_proxy", "unproxied.invalid", 1)
    }
}

/// A proxy that grants every CONNECT and then plays the server itself.
final class TunnellingProxy: Sendable {
    private let server: RawServer
    private let seen: Monitor<[RawHead]>

    init(tls: TLSServer? = nil, status: String = "200 OK") throws {
        let seen = Monitor<[RawHead]>([])
        self.seen = seen
        server = try RawServer(tls: tls) { wire in
            guard let head = try wire.readHead() else { return }
            seen.withLock { $0.append(head) }
            try wire.send("HTTP/1.1 \(status)\r\n\r\n")
            while let request = try wire.readRequest() {
                seen.withLock { $0.append(request.head) }
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            }
        }
    }

    var url: String { "http://\(server.address)" }

    /// Every head that it was shown: the CONNECT, then what came through the tunnel.
    var heads: [RawHead] { seen.withLock { $0 } }
}
