// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// A session that somebody began with another scope than is configured by now.
@Suite(.blocking) struct `Another scope than somebody logged in with` {
    private static let told = "another scope is configured"

    private func notices(_ log: String) -> Int { log.split(separator: "\n").count { $0.contains(Self.told) } }

    private func write(_ scope: String, in site: LoginSite) throws {
        let text = String(decoding: TemporaryDirectory.contents(of: site.file), as: UTF8.self)
        try site.directory.write(
            "config.yaml", text.replacing(#/(client_secret: s\n\s+scope:) .*/#) { "\($0.output.1) \(scope)" })
    }

    private func reload(_ site: LoginSite) throws {
        let answer = try RawClient(to: site.bearerd.admin).request(
            "POST", "/api/reload", [("X-Bearerd-Admin", "1")])
        #expect(answer.status == 200, "\(answer.text)")
    }

    private func row(_ id: String, of site: LoginSite) throws -> TestJSON {
        let output = try site.run("doctor", "web", "--json", "--check", id).output
        return try #require(TestJSON(parsing: output))["checks"].array
            .first { $0["identity"].string == "web" } ?? .null
    }

    @Test(arguments: [false, true])
    func `is told by the reload, the status and doctor, until a login has it`(inMemory: Bool) throws {
        let site = try LoginSite(inMemory: inMemory)
        try site.begin()
        try eventually("the session") { try site.status()["state"].string == "authorized" }
        // The order says nothing.
        try write("[offline_access, profile, openid]", in: site)
        try reload(site)
        try eventually("the session") { try site.status()["state"].string == "authorized" }
        #expect(try site.status()["last_error"] == .null && notices(site.bearerd.log) == 0)
        #expect(try row("token", of: site)["result"].string == "ok")

        try write("[openid, profile, email, offline_access]", in: site)
        try reload(site)
        try reload(site)
        let line = try site.bearerd.logLine("the notice") { $0["message"]?.hasPrefix(Self.told) == true }
        #expect(line["level"] == "notice" && line["identity"] == "web")
        #expect(line["login_scope"] == "openid profile offline_access")
        #expect(line["scope"] == "openid profile email offline_access")
        #expect(line["hint"]?.contains("bearerd login web") == true)
        try eventually("the status to say it") {
            try site.status()["last_error"]["code"].string == "scope_changed"
        }
        #expect(try site.status()["state"].string == "authorized")
        #expect(try site.status()["last_error"]["detail"].string?.contains("bearerd login web") == true)
        let finding = try row("token", of: site)
        #expect(finding["result"].string == "warn" && finding["fix"].string == "bearerd login web")
        #expect(finding["seen"].string?.contains("email") == true, "\(finding)")
        #expect(notices(site.bearerd.log) == 1, "\(site.bearerd.log)")

        try site.begin()
        try eventually("the new session") { try site.status()["last_error"] == .null }
        #expect(try row("token", of: site)["result"].string == "ok")
        #expect(notices(site.bearerd.log) == 1, "\(site.bearerd.log)")
    }

    @Test func `is told at the start`() throws {
        let site = try LoginSite()
        try site.begin()
        guard case .exited(0) = try site.bearerd.terminate() else { throw WireError("it did not drain") }
        try write("[openid, email]", in: site)
        let next = try BearerdProcess(arguments: ["run", "-c", site.file])
        try next.logLine("the notice") { $0["message"]?.hasPrefix(Self.told) == true }
    }
}
