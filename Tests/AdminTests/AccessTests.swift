// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdEventLoop
import BearerdHTTPMessages
import BearerdJSON
import Testing

struct `Who may ask the admin listener` {
    private let elsewhere = PeerAddress.ip("192.0.2.1")

    @Test(arguments: [
        ("localhost", 200), ("LOCALHOST:1", 200), ("127.0.0.1:9090", 200), ("127.0.0.1:1", 421),
        ("evil.example", 421),
    ])
    func `the Host must be one of the listener's`(host: String, status: Int) async {
        #expect(await AdminFixture().get("/api/status", host: host).status == status)
    }

    @Test(arguments: [
        (HTTPFields.Name.authorization, "Bearer k", 200), (.authorization, "bearer k", 200),
        (.bearerdAdmin, "k", 200),
        (.authorization, "Bearer x", 403), (.authorization, "Basic k", 403), (.bearerdAdmin, "1", 403),
        (.accept, "*/*", 403),
    ])
    func `with an admin key everything but probes needs it`(
        name: HTTPFields.Name, value: String, status: Int
    ) async {
        let answer = await AdminFixture(key: Secret("k"), peer: elsewhere).get(
            "/api/status", [(name, value)])
        #expect(answer.status == status)
    }

    @Test func `off loopback nothing but probes is shown as long as there is no key`() async {
        let fixture = AdminFixture(needsKey: true, peer: elsewhere)
        for path in ["/", "/api/status", "/nowhere"] {
            let answer = await fixture.get(path)
            #expect(answer.status == 403 && answer.code == "access_denied", "\(path)")
        }
        #expect(
            await fixture.send(.post, "/api/identities/default/refresh", [(.bearerdAdmin, "1")]).status == 403
        )
        for path in ["/healthz", "/readyz", "/metrics"] {
            #expect(await fixture.get(path).status != 403, "\(path)")
        }
    }

    @Test func `an action needs the header that a foreign page cannot send`() async {
        let path = "/api/identities/default/refresh"
        #expect(await AdminFixture().send(.post, path).status == 403)
        #expect(await AdminFixture().send(.post, path, [(.bearerdAdmin, "0")]).status == 403)
        #expect(await AdminFixture().send(.post, path, [(.bearerdAdmin, "1")]).status == 200)
    }

    @Test(arguments: [
        ("http://localhost:9090", 200), ("http://localhost", 403), ("http://evil.example", 403),
        ("null", 403),
    ])
    func `an action needs our own origin or none`(origin: String, status: Int) async {
        let answer = await AdminFixture().send(
            .post, "/api/identities/default/refresh", [(.bearerdAdmin, "1"), (.origin, origin)])
        #expect(answer.status == status)
        #expect(status == 200 || answer.code == "access_denied")
    }

    @Test(arguments: [(["same-origin"], 200), (["cross-site"], 403), (["same-origin", "cross-site"], 403)])
    func `behind TLS the browser says whether an action is of our own page`(
        sites: [String], status: Int
    ) async {
        let answer = await AdminFixture().send(
            .post, "/api/identities/default/refresh",
            [(.bearerdAdmin, "1"), (.origin, "https://localhost:9090")] + sites.map { (.secFetchSite, $0) })
        #expect(answer.status == status)
    }

    @Test func `with a key an action takes it in either header`() async {
        let path = "/api/identities/default/refresh"
        let fixture = AdminFixture(key: Secret("k"), peer: elsewhere)
        #expect(await fixture.send(.post, path, [(.bearerdAdmin, "k")]).status == 200)
        #expect(
            await fixture.send(.post, path, [(.bearerdAdmin, "1"), (.authorization, "Bearer k")]).status
                == 200)
        #expect(await fixture.send(.post, path, [(.authorization, "Bearer k")]).status == 403)
        #expect(await fixture.send(.post, path, [(.bearerdAdmin, "1")]).status == 403)
    }
}
