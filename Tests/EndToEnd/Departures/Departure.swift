// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// How a client goes away.
enum Departure: CaseIterable {
    /// It says that it sends no more, and nothing else.
    case halfClosing
    case closing
    case resetting

    func carryOut(on wire: Wire) {
        switch self {
        case .halfClosing: wire.finishWriting()
        case .closing: wire.close()
        case .resetting: wire.reset()
        }
    }
}

/// bearerd with an upstream that says as much as a request's target wants, and then waits for the end.
final class DepartureSite: Sendable {
    static let timeouts = "timeouts: {half_closed: 300ms, connect: 60s, token_wait: 60s, token: 60s}"

    let sidecar: Sidecar
    /// How many requests have reached the upstream, and how many of their connections have ended.
    private let seen: Monitor<(begun: Int, ended: Int)>

    init(
        provider: HostileProvider? = nil, listen: String = "127.0.0.1:0",
        top: String = DepartureSite.timeouts,
        _ settings: Sidecar.Settings = .init()
    ) throws {
        let seen = Monitor((begun: 0, ended: 0))
        self.seen = seen
        var settings = settings
        settings.listen = listen
        settings.top = "workers: 1\n\(top)\n" + settings.top
        sidecar = try Sidecar(
            provider: provider, upstream: RawUpstream(script: { try Self.serve($0, seen) }), settings)
    }

    /// What the upstream says to a request for this target, before it falls silent.
    static let words = [
        "/head": "", "/part-of-head": "HTTP/1.1 200 OK\r\nContent-Le", "/early": "HTTP/1.1 103 Early\r\n\r\n",
        "/length": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
        "/chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        "/events": "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n",
    ]

    private static func serve(_ wire: Wire, _ seen: Monitor<(begun: Int, ended: Int)>) throws {
        while let head = try wire.readHead() {
            guard let words = words[head.target] else {
                _ = try wire.readBody(of: head)
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                continue
            }
            try wire.send(words)
            seen.withLock { $0.begun += 1 }
            _ = try wire.readToEnd()
            seen.withLock { $0.ended += 1 }
            return
        }
    }

    /// Waits until the upstream has said what it says to `count` requests.
    func awaitRequests(_ count: Int = 1) throws {
        try seen.wait(for: "\(count) requests at the upstream") { $0.begun >= count ? () : nil }
    }

    /// Waits until the upstream's connections of `count` such requests have ended.
    func awaitEnds(_ count: Int = 1) throws {
        try seen.wait(for: "\(count) ends at the upstream") { $0.ended >= count ? () : nil }
    }

    /// How many requests reached the upstream and were not answered there.
    var begun: Int { seen.withLock { $0.begun } }
}

extension Sidecar {
    /// Waits for the line of a request whose client has gone, and expects that nothing is left of it.
    func expectDeparture(_ count: Int = 1) throws {
        try eventually("\(count) lines of clients that are gone") {
            bearerd.logLines.count { $0["status"] == "499" && $0["code"] == "client_gone" } >= count
        }
        try eventually("no upstream connection to be in use") {
            let metrics = try metrics()
            return metrics.sum("bearerd_upstream_connections", #"state="active""#) == 0
                && metrics.sum("bearerd_upstream_connections", #"state="connecting""#) == 0
        }
        #expect(try metrics().sum("bearerd_requests_total", #"code="499""#) == Double(count))
    }
}
