// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Certificates are read again when their files change.
@Suite(.blocking) struct `A changed certificate` {
    @Test func `is told by its end in the metrics`() throws {
        let site = try SecureSite()
        let metrics = try site.sidecar.metrics()
        let end = metrics.sum("bearerd_certificate_expiry_timestamp_seconds", #"use="listener""#)
        let now = metrics.sum("process_start_time_seconds")
        #expect((now + 3600...now + 2 * 86400).contains(end))
        #expect(metrics.sum("bearerd_connection_limit") > 0 && metrics.sum("bearerd_workers") > 0)
    }

    @Test func `serves new connections, and the open ones go on`() throws {
        let site = try SecureSite()
        let open = try site.client()
        #expect(try open.request("GET", "/").status == 200)
        let other = try TLSAuthority()
        try site.install(other.certificate())
        let tls = try site.tls(trusting: other)
        try eventually("the new certificate to be served") { try site.serves(tls) }
        #expect(try open.request("GET", "/").status == 200)
        #expect(try !site.serves(site.tls()))
        try site.sidecar.bearerd.logLine("the change") { $0.message == "certificate changed" }
    }

    @Test func `is told of once, though it is in two files`() throws {
        let site = try SecureSite()
        for count in 1...3 {
            let other = try TLSAuthority()
            try site.install(other.certificate())
            let tls = try site.tls(trusting: other)
            try eventually("the new certificate to be served") { try site.serves(tls) }
            try eventually("the change to be told of") { changes(site) >= count }
        }
        #expect(changes(site) == 3)
    }

    private func changes(_ site: SecureSite) -> Int {
        site.sidecar.bearerd.logLines.filter { $0.message == "certificate changed" }.count
    }

    @Test(arguments: ["another key", "rubbish", "nothing", "open to all", "expired"])
    func `that cannot be used leaves the one before`(fault: String) throws {
        let site = try SecureSite()
        let files = try site.authority.certificate(
            for: ["localhost", "x"], days: fault == "expired" ? -1 : 1)
        let directory = site.directory
        switch fault {
        case "another key":
            try directory.write("server.key", bytes: TemporaryDirectory.contents(of: files.keyFile))
        case "rubbish": try directory.write("server.pem", "-----BEGIN CERTIFICATE-----\nA\n")
        case "nothing": try directory.write("server.pem", "")
        case "open to all":
            let key = TemporaryDirectory.contents(of: directory.path("server.key"))
            try directory.write("server.key", bytes: key + [10], mode: 0o666)
        default: try site.install(files)
        }
        let line = try site.sidecar.bearerd.logLine("the fault") {
            $0.message == "a changed certificate cannot be used; the one before stays"
        }
        #expect(line["reason"]?.contains("server.") == true)
        #expect(try site.serves(site.tls()))
        try site.install(site.authority.certificate(for: ["localhost", "y"]))
        try site.sidecar.bearerd.logLine("the mended one") { $0.message == "certificate changed" }
        #expect(try site.serves(site.tls()))
    }
}
