// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

/// Nobody but who asks for a name waits for the name server.
@Suite(
    .blocking, .serialized,
    .enabled(if: NameServer.isPossible, "a name server of the test's own takes root's rights"))
struct `A name server` {
    private func route(_ upstream: RawUpstream) -> String {
        """
        - path: /named
          upstream: http://upstream.test:\(upstream.address.port)
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
                top: "workers: 1\ntimeouts:\n  connect: 2s\n  token: 3s", moreRoutes: route(upstream),
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
        let start = ContinuousClock.now
        for _ in 0..<20 {
            upstream.closeConnections()  // so that each has to connect anew
            #expect(try sidecar.get().status == 200)
        }
        #expect(try sidecar.admin("GET", "/healthz").status == 200)
        #expect(ContinuousClock.now - start < .seconds(1.5))
        for client in waiting {
            `bearerd's own answers`.check(try client.wire.readResponse(), 504, "upstream_timeout")
        }
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
}
