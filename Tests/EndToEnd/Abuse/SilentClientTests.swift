// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// A connection whose client says nothing for a while is served as before when it speaks again.
@Suite(.blocking) struct `Silent clients` {
    private func silence() { try? Gate().pass(within: .seconds(1.3)) }

    @Test func `are served when they speak again, and closed at the end of their time`() throws {
        let sidecar = try Sidecar(.init(top: "timeouts:\n  idle: 6s\nworkers: 1"))
        let clients = try (0..<20).map { _ in try sidecar.client() }
        for client in clients.dropLast() { #expect(try client.request("GET", "/").status == 200) }
        silence()
        for client in clients { #expect(try client.request("POST", "/", body: "again").status == 200) }
        silence()
        for client in clients.prefix(10) {
            try client.send("GET", "/1")
            try client.send("GET", "/2")
            for _ in 0..<2 { #expect(try client.wire.readResponse().status == 200) }
        }
        let start = ContinuousClock.now
        for client in clients { #expect(try client.wire.endsCleanly()) }
        #expect(ContinuousClock.now - start > .seconds(1))
        try eventually("nobody to be left") { try sidecar.metrics().sum("bearerd_open_connections") == 0 }
    }

    @Test func `make room when they go`() throws {
        let sidecar = try Sidecar(.init(top: "limits:\n  connections: 2"))
        let silent = try (0..<2).map { _ in try sidecar.client() }
        for client in silent { #expect(try client.request("GET", "/").status == 200) }
        silence()
        let waiting = try sidecar.client()
        try waiting.send("GET", "/")
        #expect(try !waiting.wire.hasSomething(within: .milliseconds(100)))
        silent[0].wire.finishWriting()
        #expect(try silent[0].wire.endsCleanly())
        #expect(try waiting.wire.readResponse().status == 200)
    }

    @Test func `do not hold up the end of a drain, and may speak during its grace`() throws {
        let sidecar = try Sidecar(.init(top: "shutdown:\n  delay: 1s"))
        let clients = try (0..<5).map { _ in try sidecar.client() }
        for client in clients { #expect(try client.request("GET", "/").status == 200) }
        silence()
        sidecar.bearerd.process.signal(15)
        try eventually("the drain") { try sidecar.admin("GET", "/readyz").status == 503 }
        #expect(try clients[0].request("GET", "/").status == 200)
        let start = ContinuousClock.now
        #expect(try sidecar.bearerd.process.waitForEnd() == .exited(0))
        #expect(ContinuousClock.now - start < .seconds(10))
        for client in clients { #expect(try client.wire.endsCleanly()) }
    }
}
