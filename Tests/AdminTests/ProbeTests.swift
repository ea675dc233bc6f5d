// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON
import Testing

struct `Probes` {
    @Test func `healthz says ok while the loops turn`() async {
        let answer = await AdminFixture().get("/healthz")
        #expect(answer.status == 200 && answer.text == "ok")
        let stuck = await AdminFixture(process: FakeProcess(turning: false)).get("/healthz")
        #expect(stuck.status == 503)
    }

    @Test func `readyz is 200 when each named identity has an unexpired token, whatever its state`() async {
        let answer = await AdminFixture().get("/readyz")
        #expect(answer.status == 200)
        #expect(answer.json?["ready"] == true)
    }

    @Test func `readyz names the identity that has no token`() async {
        let answer = await AdminFixture(secondHasToken: false).get("/readyz")
        #expect(answer.status == 503)
        let reasons = answer.json?["reasons"]?.array
        #expect(reasons?.count == 1)
        #expect(reasons?.first?["identity"] == "two words")
        #expect(reasons?.first?["state"] == "login_required")
    }

    @Test(arguments: [("/", 200), ("/b", 503), ("%2Fb", 503), ("/none", 200), ("/unknown", 404)])
    func `readyz can be asked about one route`(path: String, status: Int) async {
        let answer = await AdminFixture(secondHasToken: false).get("/readyz?x=1&route=\(path)")
        #expect(answer.status == status)
    }

    @Test func `readyz tells which routes there are where none has the path`() async {
        let answer = await AdminFixture().get("/readyz?route=/typo")
        #expect(answer.status == 404 && answer.code == "no_route")
        #expect(
            answer.json?["detail"] == "route= names no path of a route: there are /, /b, /none.",
            "\(answer.text)")
    }

    @Test(arguments: [
        ("any", 200), ("any=", 200), ("any&route=/b", 503), ("route=/&any", 200), ("any&route=/unknown", 404),
        ("many", 503), ("any=1", 200), ("any=true", 200), ("any=false", 503), ("any=0", 503),
    ])
    func `readyz can be asked whether any route can serve`(query: String, status: Int) async {
        let answer = await AdminFixture(secondHasToken: false).get("/readyz?\(query)")
        #expect(answer.status == status)
    }

    @Test(arguments: [
        ("route=/", 200), ("route=/&route=/none", 200), ("route=/none&route=/b", 503),
        ("route=/b&route=/", 503),
        ("route=/&route=/unknown", 404),
    ])
    func `readyz judges each route that it is asked about`(query: String, status: Int) async {
        let answer = await AdminFixture(secondHasToken: false).get("/readyz?\(query)")
        #expect(answer.status == status, "\(answer.text)")
    }

    @Test func `readyz for any route is 503 once a drain has begun`() async {
        let answer = await AdminFixture(process: FakeProcess(draining: true)).get("/readyz?any")
        #expect(answer.status == 503)
        #expect(answer.json?["reasons"]?.array?.first?["reason"] == "draining")
    }

    @Test func `readyz is 503 once a drain has begun`() async {
        let answer = await AdminFixture(process: FakeProcess(draining: true)).get("/readyz?route=/none")
        #expect(answer.status == 503)
        #expect(answer.json?["reasons"]?.array?.first?["reason"] == "draining")
    }

    @Test func `metrics is Prometheus text with every identity state`() async {
        let answer = await AdminFixture().get("/metrics")
        #expect(answer.status == 200)
        #expect(answer.fields[.contentType] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(answer.text.contains("bearerd_identity_state{identity=\"default\",state=\"authorized\"} 1\n"))
        #expect(
            answer.text.contains("bearerd_identity_state{identity=\"default\",state=\"idp_unavailable\"} 0\n")
        )
    }

    @Test(arguments: ["/healthz", "/readyz", "/metrics"])
    func `probes and metrics answer whatever the Host and without a key`(path: String) async {
        let answer = await AdminFixture(key: Secret("k")).get(path, host: "10.1.2.3:9090")
        #expect(answer.status == 200)
    }

    @Test func `a probe takes no POST`() async {
        let answer = await AdminFixture().send(.post, "/healthz")
        #expect(answer.status == 405)
        #expect(answer.fields[.allow] == "GET, HEAD")
        #expect(answer.code == "method_not_allowed")
    }
}
