// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport

/// A route `/h2` to an upstream of HTTP/2, beside the one to the upstream of HTTP/1.1.
enum HTTP2Route {
    static func sidecar(
        _ upstream: HTTP2Upstream, speaking protocolName: String = "h2", route: String = "", top: String = ""
    ) throws -> Sidecar { try sidecar(at: upstream.url, speaking: protocolName, route: route, top: top) }

    /// One worker, so that what is shared is one connection.
    static func sidecar(
        at url: String, speaking protocolName: String = "h2", route: String = "", top: String = ""
    ) throws -> Sidecar {
        let lines = "upstream: \(url)\nupstream_protocol: \(protocolName)\nidentity: default\n\(route)"
        return try Sidecar(
            .init(top: "workers: 1\n\(top)", moreRoutes: "- path: /h2\n\(indented(lines, by: 2))"))
    }

    /// Waits for as long as `timeouts.header`, by the clock of the process.
    static func awaitHeadTimeout(of sidecar: Sidecar) throws {
        let client = try sidecar.client()
        try client.wire.send("GET / HTTP/1.1\r\n")
        guard try client.wire.readHead()?.status == 408 else { throw WireError("no 408") }
    }

    /// What a client of a WebSocket asks for.
    static let webSocket = [
        ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ]
}
