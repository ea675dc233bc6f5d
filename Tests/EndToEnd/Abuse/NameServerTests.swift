// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Nobody but who asks for a name waits for the name server.
@Suite(
    .blocking, .serialized,
    .needs(.nameServer))
struct `A name server` {
    private func route(_ upstream: RawUpstream) -> String { route(port: upstream.address.port) }

    private func route(port: UInt16) -> String {
        """
        - path: /named
          upstream: http://upstream.test:\(port)
          allow_insecure_upstream: true
          identity: default
        """
    }

    @Test func `that says nothing holds up its own route alone, for the time of connecting`() throws {
        let server = try NameServer(answeringWhen: Gate())
        let upstream = try RawUpstream()
        let sidecar = try Sidecar(
            upstream: upstream, launcher: server.launcher,
            .init(
                top: "workers: 1\ntimeouts:\n  connect: 15s\n  token: 3s", moreRoutes: route(upstream),
                moreIdentities: """
                    lost:
                      issuer: https://provider.test
                      client_id: a
                      client_secret: b
                      grant_type: client_credentials
                    """))
        #expect(try sidecar.get().status == 200)
        let waiting = try (0..<50).map { _ in try sidecar.client() }
        for client in waiting { try client.send("GET", "/named") }
        try server.awaitQuestions(8)
        // Each lookup is a thread: a few try, the others wait for them.
        #expect(sidecar.bearerd.threadCount < 32)
        for _ in 0..<6 {
            upstream.closeConnections()  // so that each has to connect anew
            #expect(try sidecar.get().status == 200)
        }
        #expect(try sidecar.admin("GET", "/healthz").status == 200)
        // All of that was served while the others waited.
        #expect(sidecar.bearerd.logLines.allSatisfy { $0["code"] != "upstream_timeout" })
        for client in waiting {
            `bearerd's own answers`.check(try client.wire.readResponse(), 504, "upstream_timeout")
        }
        #expect(try sidecar.bearerd.terminate() == .exited(0))
    }

    @Test func `that says nothing is asked no more often by clients that come and go`() throws {
        let server = try NameServer(answeringWhen: Gate())
        let upstream = try RawUpstream()
        let sidecar = try Sidecar(
            upstream: upstream, launcher: server.launcher,
            .init(top: "workers: 1\ntimeouts:\n  connect: 60s\n", moreRoutes: route(upstream)))
        for round in 1...4 {
            let clients = try (0..<20).map { _ in try sidecar.client() }
            for client in clients { try client.send("GET", "/named") }
            if round == 1 { try server.awaitQuestions(8) }
            for client in clients { client.wire.finishWriting() }
            try eventually("the lines of those who left") {
                sidecar.bearerd.logLines.count { $0["code"] == "client_gone" } >= 20 * round
            }
            // Each lookup is a thread, and it outlives whoever waited for it.
            #expect(sidecar.bearerd.threadCount < 32)
        }
        try sidecar.expectDeparture(80)
        #expect(try sidecar.get().status == 200)
        #expect(try sidecar.bearerd.terminate() == .exited(0))
    }

    @Test func `that is slow is waited for`() throws {
        let gate = Gate()
        let server = try NameServer(answeringWhen: gate)
        let upstream = try RawUpstream()
        let sidecar = try Sidecar(
            upstream: upstream, launcher: server.launcher, .init(moreRoutes: route(upstream)))
        let client = try sidecar.client()
        try client.send("GET", "/named")
        try server.awaitQuestions(1)
        #expect(try sidecar.get().status == 200)
        gate.open()
        #expect(try client.wire.readResponse().status == 200)
    }

    /// bearerd with one worker and the route, and a name server that answers at once.
    private func site(
        top: String = "", route: ((RawUpstream) -> String)? = nil
    ) throws -> (server: NameServer, upstream: RawUpstream, sidecar: Sidecar) {
        let gate = Gate()
        gate.open()
        let server = try NameServer(answeringWhen: gate)
        let upstream = try RawUpstream()
        let sidecar = try Sidecar(
            upstream: upstream, launcher: server.launcher,
            .init(top: "workers: 1\n\(top)", moreRoutes: (route ?? self.route)(upstream)))
        return (server, upstream, sidecar)
    }

    /// A server of the same port at another address.
    private func twin(of upstream: RawUpstream, host: UInt8) throws -> RawUpstream {
        try RawUpstream(host: host, port: upstream.address.port) { _ in .ok("twin") }
    }

    @Test func `is asked anew when what it said last can no longer be connected to`() throws {
        let (server, upstream, sidecar) = try site()
        let client = try sidecar.client()
        #expect(try client.request("GET", "/named").text == "hello")
        let twin = try twin(of: upstream, host: 2)
        server.answer(with: 2)
        upstream.stop()
        var failures = 0
        try eventually("the other address") {
            let answer = try client.request("POST", "/named", body: "x")
            if answer.status != 200 { failures += 1 }
            return answer.text == "twin"
        }
        #expect(failures == 0 || twin.requests.count == 1)
        // Back again, and nobody notices: what was found a while ago is doubted before anybody is told.
        let back = try RawUpstream(port: upstream.address.port)
        server.answer(with: 1)
        twin.stop()
        try eventually("the first address") { try client.request("GET", "/named").text == "hello" }
        #expect(back.requests.count == 1)
    }

    @Test func `is asked once a second at most while nobody can be connected to`() throws {
        let (socket, refusing) = try Socket.refusing()
        let (server, _, sidecar) = try site { _ in self.route(port: refusing.port) }
        let client = try sidecar.client()
        let start = ContinuousClock.now
        var requests = 0
        while ContinuousClock.now - start < .seconds(3) || requests < 200 {
            `bearerd's own answers`.check(try client.request("GET", "/named"), 502, "upstream_connect")
            requests += 1
        }
        // Each lookup is two questions: one for each family.
        let seconds = Int((ContinuousClock.now - start) / .seconds(1)) + 2
        #expect(server.questionCount >= 4 && server.questionCount <= seconds * 2)
        withExtendedLifetime(socket) {}
    }

    @Test func `is asked again when upstream_age is over, though all goes well`() throws {
        let (server, upstream, sidecar) = try site(top: "timeouts: {upstream_age: 200ms}")
        let client = try sidecar.client()
        #expect(try client.request("GET", "/named").text == "hello")
        let twin = try twin(of: upstream, host: 2)
        server.answer(with: 2)
        try eventually("the new address") { try client.request("GET", "/named").text == "twin" }
        #expect(!twin.requests.isEmpty)
    }

    @Test func `is asked by each transfer to a provider, which may have moved`() throws {
        let gate = Gate()
        gate.open()
        let server = try NameServer(answeringWhen: gate)
        let answer: @Sendable (RawRequest) throws -> Reply = { _ in
            .json(#"{"access_token":"at","token_type":"Bearer","expires_in":300}"#)
        }
        let first = try RawUpstream(answer: answer)
        let upstream = try RawUpstream()
        let sidecar = try Sidecar(
            upstream: upstream, launcher: server.launcher,
            .init(
                moreRoutes: "- path: /moved\n  upstream: \(upstream.url)\n  identity: moved",
                moreIdentities: """
                    moved:
                      token_endpoint: http://sso.test:\(first.address.port)/token
                      allow_insecure_provider: true
                      client_id: a
                      client_secret: b
                      grant_type: client_credentials
                    """))
        #expect(try sidecar.get("/moved").status == 200)
        let second = try RawUpstream(host: 2, port: first.address.port, answer: answer)
        server.answer(with: 2)
        first.stop()
        let admin = try RawClient(to: sidecar.bearerd.admin)
        let refreshed = try admin.request(
            "POST", "/api/identities/moved/refresh", [("X-Bearerd-Admin", "1")], body: "")
        #expect(refreshed.status == 200 && second.requests.count == 1)
    }
}
