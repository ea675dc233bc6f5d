// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// An API that refuses the token in one place and takes it in all others.
@Suite(.blocking) struct `One endpoint that always says 401` {
    private func upstream() throws -> RawUpstream {
        try RawUpstream { request in request.head.target == "/no" ? .unauthorized : .ok() }
    }

    @Test func `costs one refresh in ten seconds, and few reports`() throws {
        let directory = try TemporaryDirectory()
        let hook = try directory.write(
            "hook", "#!/bin/sh\necho \"$BEARERD_STATE\" >> \"${0%/*}/states\"\n", mode: 0o700)
        let sidecar = try Sidecar(
            upstream: upstream(), directory: directory, .init(top: "on_state_change: [\(hook)]"))
        try sidecar.awaitToken()
        let start = ContinuousClock.now
        _ = try concurrently(8) { number in
            let client = try sidecar.client()
            for _ in 0..<400 {
                let path = number < 4 ? "/no" : "/yes"
                #expect(try client.request("GET", path).status == (number < 4 ? 401 : 200))
            }
        }
        let elapsed = ContinuousClock.now - start
        #expect(sidecar.provider.requests.count <= 2 + Int(elapsed / .seconds(10)))
        #expect(try sidecar.get("/yes").status == 200)
        #expect(try sidecar.state() == "authorized")
        let seconds = Int((ContinuousClock.now - start) / .seconds(1)) + 1
        let lines = sidecar.bearerd.logLines
        #expect(lines.count { $0.message == "identity changed state" } <= 2 + 2 * seconds)
        #expect(lines.count { $0.message == "the upstream refused the token" } <= 2 + seconds / 10)
        let runs = TemporaryDirectory.contents(of: directory.path("states")).count {
            $0 == UInt8(ascii: "\n")
        }
        #expect(runs <= 2 + 2 * seconds)
    }

    @Test func `makes nobody else wait for the refresh that it forces`() throws {
        let sidecar = try Sidecar(upstream: upstream())
        try sidecar.awaitToken()
        let gate = Gate()
        defer { gate.open() }
        sidecar.provider.script({ _, provider in provider.tokens().held(by: gate) })
        let refused = Background { try sidecar.get("/no").status }
        try sidecar.provider.request(2)
        let isPrompt = try isOnce(within: .seconds(1)) { begin in
            let client = try sidecar.client()
            begin()
            #expect(try client.request("GET", "/yes").status == 200)
        }
        #expect(isPrompt)
        #expect(Set(sidecar.upstream.tokens) == Set(sidecar.provider.accessTokens.prefix(1)))
        gate.open()
        #expect(try refused.value() == 401)
        #expect(sidecar.upstream.tokens.last == sidecar.provider.accessTokens.last, "it was replayed")
    }

    @Test func `makes one request at most wait where it cannot be replayed`() throws {
        let sidecar = try Sidecar(upstream: upstream(), .init(route: "retry_on_status: []"))
        try sidecar.awaitToken()
        let gate = Gate()
        defer { gate.open() }
        sidecar.provider.script({ _, provider in provider.tokens().held(by: gate) })
        #expect(try sidecar.get("/no").status == 401)
        let first = Background { try sidecar.get("/yes").status }
        try sidecar.provider.request(2)
        let answers = try concurrently(20) { _ in try sidecar.get("/yes").status }
        #expect(answers.allSatisfy { $0 == 200 })
        gate.open()
        #expect(try first.value() == 200)
    }
}
