// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Over TLS too a client that goes away is noticed, with close_notify and without.
@Suite(.blocking) struct `A TLS client that goes away` {
    /// What it tells of its end: TLS alone, TCP alone, both, or a reset.
    enum Farewell: CaseIterable {
        case closeNotify
        case end
        case both
        case reset

        func say(on wire: Wire) {
            switch self {
            case .closeNotify: wire.finishWriting()
            case .end: wire.cut()
            case .both: wire.close()
            case .reset: wire.reset()
            }
        }
    }

    private static func site(_ answer: String, _ seen: Monitor<(begun: Int, ended: Int)>) throws -> SecureSite
    {
        let upstream = try RawUpstream(script: { wire in
            guard try wire.readHead() != nil else { return }
            try wire.send(answer)
            seen.withLock { $0.begun += 1 }
            _ = try wire.readToEnd()
            seen.withLock { $0.ended += 1 }
        })
        return try SecureSite(upstream: upstream, top: "workers: 1\ntimeouts: {half_closed: 300ms}")
    }

    @Test(arguments: ["", "HTTP/1.1 200 OK\r\n\r\nsome"], Farewell.allCases)
    func `ends what its upstream is busy with`(answer: String, farewell: Farewell) throws {
        let seen = Monitor((begun: 0, ended: 0))
        let site = try Self.site(answer, seen)
        let client = try site.client()
        try client.send("GET", "/")
        try seen.wait(for: "the request") { $0.begun == 1 ? () : nil }
        farewell.say(on: client.wire)
        try seen.wait(for: "its end") { $0.ended == 1 ? () : nil }
        try site.sidecar.expectDeparture()
        #expect(try site.sidecar.bearerd.terminate() == .exited(0))
    }

    @Test(arguments: [Farewell.closeNotify, .end, .both])
    func `right behind its request does so too`(farewell: Farewell) throws {
        let seen = Monitor((begun: 0, ended: 0))
        let site = try Self.site("", seen)
        let client = try site.client()
        try client.send("GET", "/")
        farewell.say(on: client.wire)
        // Who is seen to be gone before the request goes up costs the upstream nothing.
        try site.sidecar.expectDeparture()
        try seen.wait(for: "its end, if it went up") { $0.ended == $0.begun ? () : nil }
        #expect(try site.sidecar.bearerd.terminate() == .exited(0))
    }

    @Test func `after its close_notify still gets an answer that comes in time`() throws {
        let gate = Gate()
        let site = try SecureSite(
            upstream: try RawUpstream { _ in .ok("late").held(by: gate) }, top: "timeouts: {half_closed: 1m}")
        let client = try site.client()
        try client.send("GET", "/")
        client.wire.finishWriting()
        try site.sidecar.upstream.request()
        // The look at a client that ended comes a moment after its request.
        #expect(try !client.wire.hasSomething(within: .milliseconds(500)))
        gate.open()
        #expect(try client.wire.readResponse().text == "late")
    }
}
