// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// A reload that fails late, when everything else of it is ready, puts nothing of it in force.
@Suite(.blocking) struct `A reload that is refused` {
    /// Why it is refused.
    enum Reason: CaseIterable {
        case portInUse
        case watchThatCannotBeMade
        case auditThatCannotBeOpened
    }

    @Test(arguments: Reason.allCases)
    func `leaves client certificates, audit, routes and the admin listener as they are`(reason: Reason) throws
    {
        let directory = try TemporaryDirectory()
        let shortage = directory.path("shortage")
        let authority = try TLSAuthority()
        let upstream = try RawUpstream(tls: authority.server(clientAuthority: authority.certificateFile))
        try write(authority.client(), to: "good", in: directory)
        let stranger = try TLSAuthority()
        try write(stranger.client(), to: "strange", in: directory)
        withExtendedLifetime(stranger) {}
        let (audit, otherAudit) = (directory.path("audit.log"), directory.path("other.log"))
        let other = try RawUpstream()
        func settings(certificate: String, audit: String, more: String = "") -> Sidecar.Settings {
            let route = """
                - path: /tls
                  upstream: \(upstream.url)
                  identity: default
                  ca_file: \(authority.certificateFile)
                  client_certificate_file: \(directory.path("\(certificate).pem"))
                  client_key_file: \(directory.path("\(certificate).key"))
                  timeouts: {upstream_idle: 1ms}
                """
            return .init(
                top: "audit: {file: \(audit)}\nworkers: 2", moreRoutes: route + "\n" + more,
                listen: "[127.0.0.1:0, \"unix:\(directory.path("kept"))\"]")
        }
        let sidecar = try Sidecar(
            directory: directory, environment: Faults.environment(["FAULT_WATCH": shortage]),
            settings(certificate: "good", audit: audit))
        try sidecar.awaitToken()
        #expect(try sidecar.get("/tls").status == 200)

        var refused = settings(
            certificate: "strange", audit: otherAudit,
            more: "- {path: /new, upstream: \(sidecar.upstream.url), identity: none}")
        refused.admin = "quit: true"
        refused.route = "request_headers: {set: {x-new: 'yes'}}"
        let added = directory.path("added")
        refused.listen = "[127.0.0.1:0, \"unix:\(directory.path("kept"))\", \"unix:\(added)\""
        switch reason {
        case .portInUse: refused.listen += ", \(other.url.replacing("http://", with: ""))"
        case .watchThatCannotBeMade: try directory.write("shortage", "")
        case .auditThatCannotBeOpened: mkdir(otherAudit, 0o755)
        }
        refused.listen += "]"
        try Sidecar.file(
            provider: sidecar.provider, upstream: sidecar.upstream.url, clientSecret: sidecar.clientSecret,
            directory: directory, refused)
        sidecar.bearerd.process.signal(SIGHUP)
        try sidecar.bearerd.logLine("the refusal") {
            $0["message"] == "the configuration has an error; the old one is in force"
        }
        unlink(shortage)

        for _ in 0..<4 { #expect(try sidecar.get("/tls").status == 200) }
        #expect(try sidecar.get("/new").status == 200, "by the route /")
        #expect(sidecar.upstream.requests.allSatisfy { $0["x-new"] == nil })
        let status = try sidecar.admin("GET", "/api/status").json
        #expect(status["routes"].array.count == 2, "\(status)")
        #expect(
            try sidecar.admin("POST", "/api/quit", [("X-Bearerd-Admin", "1")]).status == 404,
            "only the refused one has it")
        try eventually("the lines in the audit of before") {
            String(decoding: TemporaryDirectory.contents(of: audit), as: UTF8.self)
                .split(separator: "\n").count == 6
        }
        if reason != .auditThatCannotBeOpened {
            #expect(TemporaryDirectory.contents(of: otherAudit).isEmpty)
        }
        #expect(access(added, F_OK) != 0 && access(directory.path("kept"), F_OK) == 0)
        #expect(sidecar.provider.requests.count == 1)
    }

    private func write(
        _ files: (certificateFile: String, keyFile: String), to name: String, in directory: TemporaryDirectory
    ) throws {
        try directory.write("\(name).pem", bytes: TemporaryDirectory.contents(of: files.certificateFile))
        let key = try directory.write("\(name).key", bytes: TemporaryDirectory.contents(of: files.keyFile))
        chmod(key, 0o600)
    }
}
