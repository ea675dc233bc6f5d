// SPDX-License-Identifier: Apache-2.0

import BearerdAdmin
import BearerdAdminAPI
import BearerdHTTPMessages
import BearerdJSON
import BearerdObservability
import Testing

struct `The status` {
    @Test func `the status document has every member of the contract`() async {
        let answer = await AdminFixture(secondHasToken: false).get("/api/status")
        #expect(answer.fields[.contentType] == "application/json")
        #expect(answer.fields[.cacheControl] == "no-store")
        #expect(answer.json?["version"] == "1.2.3")
        #expect(answer.json?["uptime_seconds"] == 90)
        let first = answer.json?["identities"]?.array?.first
        #expect(first?["name"] == "default" && first?["state"] == "authorized" && first?["generation"] == 3)
        #expect(first?["expires_at"] == "2026-11-21T10:45:54Z")
        #expect(first?["last_refresh"] == "2026-11-21T10:40:54Z")
        #expect(first?["scope"] == "openid profile")
        #expect(first?["last_error"]?["code"] == "invalid_scope")
        #expect(answer.json?["identities"]?.array?.last?["expires_at"] == .null)
        #expect(answer.json?["routes"]?.array?.first?["identity"] == "default")
        #expect(answer.json?["routes"]?.array?.last?["identity"] == "none")
        #expect(answer.json?["requests"]?["total"] == 2)
        #expect(answer.json?["requests"]?["by_status"]?["404"] == 1)
    }

    @Test func `routes of one path are told apart, and the metric of the path has the worst of them`() async {
        let well = RouteScope(path: "/m", methods: ["GET", "HEAD"])
        let ill = RouteScope(path: "/m", host: "<dead>.test", methods: ["POST"])
        var fixture = AdminFixture(
            process: FakeProcess(healths: [well: .answers, ill: .fails("30 of 30 answers failed")]))
        fixture.moreRoutes = [well, ill].map {
            AdminRoute($0, upstream: "https://api.example.com", identity: nil)
        }
        let routes = await fixture.get("/api/status").json?["routes"]?.array?.suffix(2) ?? []
        #expect(routes.first?["upstream_state"] == "ok" && routes.first?["methods"] == ["GET", "HEAD"])
        #expect(routes.first?["host"] == nil && routes.first?["reason"] == nil)
        #expect(routes.last?["upstream_state"] == "failing" && routes.last?["methods"] == ["POST"])
        #expect(routes.last?["host"] == "<dead>.test" && routes.last?["reason"] == "30 of 30 answers failed")
        let page = await fixture.get("/").text
        #expect(
            page.contains("Routes that fail:</strong> /m (host &lt;dead&gt;.test, POST). "), "\(page)")
        #expect(await fixture.get("/metrics").text.contains(#"bearerd_route_failing{route="/m"} 1"#))
    }

    @Test func `the page lists identities, escapes what it shows and loads nothing`() async {
        let answer = await AdminFixture().get("/")
        #expect(answer.status == 200)
        #expect(answer.fields[.contentType] == "text/html; charset=utf-8")
        #expect(answer.fields[.contentSecurityPolicy]?.hasPrefix("default-src 'none'") == true)
        #expect(answer.text.contains("two words"))
        #expect(answer.text.contains("development.provider is on"))
        #expect(answer.text.contains("A &lt;sentence&gt;."))
        #expect(!answer.text.contains("http://") && !answer.text.contains("src="))
    }

    @Test func `an unknown path is a problem with a code`() async {
        let answer = await AdminFixture().get("/nothing")
        #expect(answer.status == 404)
        #expect(answer.code == "no_route")
        #expect(answer.fields[.contentType] == "application/problem+json")
    }
}
