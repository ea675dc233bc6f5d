// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// What an identity says that waits for its first login, or for the next one after a logout.
@Suite(.blocking) struct `An identity that nobody is logged in to` {
    private func check(_ site: LoginSite) throws {
        #expect(try site.status()["state"].string == "login_required")
        let ready = try RawClient(to: site.bearerd.admin).request("GET", "/readyz")
        #expect(ready.status == 503 && ready.text.contains(#""state":"login_required""#), "\(ready.text)")
        let metrics = Metrics(parsing: try RawClient(to: site.bearerd.admin).request("GET", "/metrics").text)
        let identity = #"identity="web""#
        #expect(metrics.sum("bearerd_identity_state", identity, #"state="login_required""#) == 1)
        #expect(metrics.sum("bearerd_identity_state", identity, #"state="empty""#) == 0)
        #expect(metrics.sum("bearerd_token_expiry_timestamp_seconds", identity) == 0)
        let answer = try RawClient(to: site.bearerd.proxy).request("GET", "/")
        `bearerd's own answers`.check(answer, 503, "login_required")
        #expect(answer.text.contains("run 'bearerd login web'"), "\(answer.text)")
    }

    @Test func `is login_required before the first login and after a logout`() throws {
        let site = try LoginSite()
        try check(site)
        let line = try site.bearerd.logLine("how to log in") { $0.message == "somebody must log in" }
        #expect(line["level"] == "warning" && line["identity"] == "web")
        let hint = "open http://\(try site.bearerd.admin)/login/web in a browser, or run 'bearerd login web'"
        #expect(line["hint"] == hint, "\(line.json)")
        #expect(!site.bearerd.logLines.contains { $0["state"] == "empty" })
        let login = try site.start("login", "web", "--no-browser")
        _ = try browse(try site.logIn(at: try site.firstLine(of: login)))
        #expect(try login.waitForEnd() == .exited(0))
        try eventually("the login to be used") { try site.status()["state"].string == "authorized" }
        #expect(try site.run("logout", "web", "--local").ending == .exited(0))
        try eventually("the logout to be noticed") { try site.status()["state"].string != "authorized" }
        try check(site)
    }

    @Test func `is login_required for the command too, with no daemon`() throws {
        let provider = try HostileProvider()
        let directory = try TemporaryDirectory()
        let file = try Sidecar.file(provider: provider, directory: directory, .init(grant: "device_code"))
        let status = try BearerdProcess.command("status", "--json", "-c", file)
        #expect(status.output.contains(#""state":"login_required""#), "\(status.output)")
    }
}
