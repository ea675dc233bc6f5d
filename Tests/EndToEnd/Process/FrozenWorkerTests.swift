// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import CBearerdTrace
import Glibc
import Testing

/// A worker whose loop does not turn, seen from the admin listener.
@Suite(.blocking) struct `A worker that stands still` {
    @Test(.needs(.root))
    func `is named wherever somebody looks, and holds nobody up who does`() throws {
        let sidecar = try Sidecar(.init(top: "workers: 2"))
        try sidecar.awaitToken()
        #expect(try sidecar.admin("GET", "/api/status").json["silent_workers"] == .null)
        let thread = try #require(sidecar.thread(named: "worker-1"))
        #expect(trace_freeze(thread) == 0)

        let status = try sidecar.admin("GET", "/api/status")
        #expect(status.status == 200 && status.json["silent_workers"][0].string == "worker-1")
        #expect(status.json["identities"].array.count == 1)
        let line = try sidecar.bearerd.logLine("who it is") { $0.message == "a worker does not turn" }
        #expect(line["level"] == "warning" && line["worker"] == "worker-1")
        // Whoever looks first has waited for it, a second, and nobody else does.
        let begin = ContinuousClock.now
        for _ in 0..<30 {
            let page = try sidecar.admin("GET", "/").text
            #expect(page.contains("Standing still:</strong> worker-1") && !page.contains("All is well"))
            #expect(try sidecar.admin("GET", "/metrics").text.contains("bearerd_open_connections"))
        }
        #expect(ContinuousClock.now - begin < .seconds(30))
        let health = try sidecar.admin("GET", "/healthz")
        #expect(health.status == 503 && health.text.contains("worker-1"))
        #expect(try sidecar.admin("GET", "/readyz").status == 200)
        let file = try sidecar.directory.fileAsking(sidecar.bearerd.admin)
        let probe = try BearerdProcess.command("healthcheck", "-c", file)
        #expect(probe.exit == 69 && probe.errors.contains("standing still: worker-1"), "\(probe)")

        #expect(trace_thaw(thread) == 0)
        try eventually("it to be silent no more") {
            try sidecar.admin("GET", "/api/status").json["silent_workers"] == .null
        }
        #expect(try sidecar.admin("GET", "/healthz").status == 200)
        try sidecar.bearerd.logLine("that it turns") {
            $0.message == "a worker turns again" && $0["worker"] == "worker-1"
        }
    }
}
