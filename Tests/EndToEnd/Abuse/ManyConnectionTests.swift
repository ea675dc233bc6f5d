// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// Connections cost what they need, and running out of descriptors is a pause and no end.
@Suite(.blocking) struct `Many connections` {
    @Test func `that are idle take at most 4 KiB each`() throws {
        raiseDescriptorLimit()
        let count = Soak.factor > 1 ? 10_000 : 2_000
        let sidecar = try Sidecar(
            .init(top: "log:\n  access: false\ntimeouts:\n  idle: 10m\nlimits:\n  connections: 20000"))
        // What is allocated once.
        var clients = try opened(200, by: sidecar)
        var each = Int.max
        // A moment after its answer a connection is a stream and nothing else. A burst that comes within that moment leaves
        // room in the heap, which the next one has.
        for _ in 0..<3 where each > 4096 {
            let before = sidecar.bearerd.anonymousBytes
            clients += try opened(count, by: sidecar)
            try? eventually("little memory", within: .seconds(20)) {
                each = (sidecar.bearerd.anonymousBytes - before) / count
                return each <= 4096
            }
        }
        #expect(each <= 4096 || Sanitizer.isOn, "\(each) bytes each")
        if Soak.factor > 1 { print("\(count) idle connections: \(each) bytes each") }
        #expect(try sidecar.metrics().sum("bearerd_open_connections") == Double(clients.count))
        for client in clients { #expect(try client.request("GET", "/again").status == 200) }
        clients = []
        try eventually("connections to end") {
            try sidecar.metrics().sum("bearerd_open_connections") == 0
        }
    }

    @Test func `that are more than there are descriptors wait, and the others go on`() throws {
        let sidecar = try Sidecar(
            launcher: ["/usr/bin/prlimit", "--nofile=128:128"], .init(top: "workers: 1"))
        try sidecar.bearerd.logLine("a warning") { $0.message.contains("fewer descriptors") }
        let early = try sidecar.client()
        #expect(try early.request("GET", "/").status == 200)
        var held = try (0..<150).map { _ in try sidecar.client() }
        let late = try sidecar.client()
        try late.send("GET", "/late")
        #expect(try !late.wire.hasSomething(within: .milliseconds(500)))
        // There is room left for what a request that got in may need.
        sidecar.upstream.closeConnections()
        for _ in 0..<3 { #expect(try early.request("POST", "/", body: "x").status == 200) }
        #expect(try sidecar.admin("GET", "/healthz").status == 200)
        #expect(try sidecar.act("refresh").status == 200)
        held = []
        #expect(try late.wire.readResponse().status == 200)
        #expect(try sidecar.get().status == 200)
        #expect(held.isEmpty && sidecar.bearerd.process.isRunning)
    }

    @Test func `that all want something at once each find a descriptor for their upstream`() throws {
        let gate = Gate()
        let sidecar = try Sidecar(
            upstream: RawUpstream { request in
                if request.head.target == "/held" { try gate.pass() }
                return .ok()
            }, launcher: ["/usr/bin/prlimit", "--nofile=128:128"], .init(top: "workers: 2"))
        #expect(try sidecar.get("/").status == 200)
        let clients = try (0..<150).map { _ in try sidecar.client() }
        for client in clients { try client.send("GET", "/held", [("Connection", "close")]) }
        try eventually("as many requests as there is room for") { sidecar.upstream.requests.count > 25 }
        #expect(try sidecar.admin("GET", "/healthz").status == 200)
        gate.open()
        for client in clients { #expect(try client.wire.readResponse().status == 200) }
    }

    @Test func `are served in turn where there are next to no descriptors`() throws {
        let sidecar = try Sidecar(launcher: ["/usr/bin/prlimit", "--nofile=48:48"], .init(top: "workers: 2"))
        let clients = try (0..<60).map { _ in try sidecar.client() }
        for client in clients { try client.send("GET", "/", [("Connection", "close")]) }
        for client in clients {
            let answer = try client.wire.readResponse()
            #expect(answer.status == 200, "\(answer)")
        }
    }

    @Test func `are as many as the hard limit allows, whatever the soft one is`() throws {
        let sidecar = try Sidecar(launcher: ["/usr/bin/prlimit", "--nofile=64:4096"])
        let clients = try (0..<200).map { _ in try sidecar.client() }
        for client in clients { #expect(try client.request("GET", "/").status == 200) }
    }

    private func opened(_ count: Int, by sidecar: Sidecar) throws -> [RawClient] {
        try (0..<count).map { _ in
            let client = try sidecar.client()
            #expect(try client.request("GET", "/").status == 200)
            return client
        }
    }
}

/// As many descriptors as the system lets this process have.
private func raiseDescriptorLimit() {
    var limit = rlimit()
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    guard getrlimit(resource, &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(resource, &limit)
}
