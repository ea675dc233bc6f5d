// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdEventLoop
import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdSystem
import OAuth
import Synchronization
import Testing

@testable import BearerdAdmin

/// What time and the admin key have to do with a login on the admin listener.
struct `A login in a browser` {
    /// A listener off loopback.
    private final class Site: Sendable {
        let responder: AdminResponder
        let key = CurrentSecret(Secret("fake-admin-key"))
        let identities: FakeIdentities

        /// - Parameter peerUserIDs: the owners besides our own user.
        init(
            peerUserIDs: Set<UInt32> = [], receivers: any RedirectReceivers = NoRedirectReceivers()
        ) {
            identities = AdminFixture().identities()
            responder = AdminResponder(
                settings: AdminSettings(
                    version: "1", routes: [], hosts: HostList(["bearerd.example:9090"]), key: key,
                    needsKey: true, peerUserIDs: peerUserIDs,
                    redirects: ["default": RedirectURI("http://bearerd.example:9090/callback") ?? .standard],
                    configurationFile: "/etc/bearerd/config.yaml"),
                identities: identities, process: FakeProcess(), receivers: receivers,
                memory: AdminMemory())
        }

        func send(
            _ method: HTTPMethod, _ target: String, _ fields: [(HTTPFields.Name, String)] = [],
            body: String = "", peer: String = "192.0.2.1", user: PeerUser = .nobody
        ) async -> Answer {
            var request = HTTPRequest(method: method, target: target)
            request.fields[.host] = "bearerd.example:9090"
            request.fields[.accept] = "text/html"
            for (name, value) in fields { request.fields[name] = value }
            return Answer(
                await responder.respond(
                    to: ServiceRequest(head: request, body: Array(body.utf8), peer: .ip(peer)) { user }))
        }

        /// Begins a login.
        ///
        /// - Returns: the way back from the provider, and the login's cookie.
        func begin() async throws -> (back: String, cookie: String) {
            let begun = await send(.get, "/login/default", [(.bearerdAdmin, "fake-admin-key")])
            let location = try #require(begun.fields[.location])
            let state = try #require(location.firstMatch(of: #/[?&]state=([^&]+)/#)).output.1
            let cookie = String(try #require(begun.fields[.setCookie]).prefix { $0 != ";" })
            return ("/callback?code=c&state=\(state)&iss=https%3A%2F%2Fsso.example.com", cookie)
        }

        /// Types a key in.
        func type(
            _ key: String, origin: String? = "http://bearerd.example:9090", peer: String = "192.0.2.1"
        )
            async -> Answer
        {
            await send(
                .post, "/key", origin.map { [(.origin, $0)] } ?? [],
                body: "key=\(key)&next=%2Flogin%2Fdefault",
                peer: peer)
        }
    }

    @Test func `off loopback needs the key, typed into a page, and goes on from there`() async throws {
        let site = Site()
        for target in ["/", "/login/default"] {
            let form = await site.send(.get, target)
            #expect(form.status == 403 && form.text.contains("type=\"password\""), "\(target)")
            #expect(form.text.contains("value=\"\(target)\""))
            #expect(form.fields[.contentSecurityPolicy]?.contains("form-action 'self'") == true)
        }
        let wrong = await site.type("nonsense")
        #expect(wrong.status == 403 && wrong.text.contains("not the key") && wrong.fields[.setCookie] == nil)
        let right = await site.type("fake-admin-key")
        #expect(right.status == 200 && right.text.contains("url=/login/default"))
        let set = try #require(right.fields[.setCookie])
        #expect(set.contains("; HttpOnly; SameSite=Lax") && !set.contains("fake-admin-key"))
        let cookie = String(set.prefix { $0 != ";" })
        #expect(await site.send(.get, "/login/default", [(.cookie, cookie)]).status == 303)
        #expect(await site.send(.get, "/api/status", [(.cookie, "a=b; \(cookie)")]).status == 200)
        let act = await site.send(
            .post, "/api/identities/default/refresh", [(.cookie, cookie), (.bearerdAdmin, "1")])
        #expect(act.status == 200)
        #expect(await site.send(.post, "/api/identities/default/refresh", [(.cookie, cookie)]).status == 403)
        for damaged in [
            cookie + "x", cookie.replacing("=", with: "=9"), "bearerd_admin=", "bearerd_admin=1.x",
        ] {
            #expect(await site.send(.get, "/api/status", [(.cookie, damaged)]).status == 403, "\(damaged)")
        }
        site.key.replace(with: Secret("another-fake-key"), readAt: .now)
        #expect(await site.send(.get, "/api/status", [(.cookie, cookie)]).status == 403)
    }

    @Test func `takes a key from its own page alone, and not from who guesses`() async {
        let site = Site()
        for origin in [nil, "null", "http://evil.example", "http://bearerd.example"] {
            #expect(await site.type("fake-admin-key", origin: origin).status == 403, "\(origin ?? "")")
        }
        for _ in 0..<10 { #expect(await site.type("nonsense").status == 403) }
        let late = await site.type("fake-admin-key")
        #expect(late.status == 429 && late.fields[.retryAfter] != nil && late.fields[.setCookie] == nil)
        #expect(await site.type("fake-admin-key", peer: "198.51.100.1").status == 200)
    }

    @Test func `takes the way on from its form to ourselves alone`() async {
        for target in [
            "https%3A%2F%2Fevil.example%2F", "%2F%2Fevil.example", "%2Fapi%2Fquit", "javascript:x", "",
        ] {
            let answer = await Site().send(
                .post, "/key", [(.origin, "http://bearerd.example:9090")],
                body: "key=fake-admin-key&next=\(target)")
            #expect(answer.status == 200 && answer.text.contains("content=\"0; url=/\""), "\(target)")
            #expect(!answer.text.contains("evil"))
        }
    }

    @Test func `that another one has outdone says so, and is not to be tried again by itself`() {
        let page = Answer(
            LoginPages.failed(.login(.unstored(.outdated)), "default", at: nil, hasSession: false))
        #expect(page.status == 409 && page.fields[.retryAfter] == nil && page.text.contains("is outdone"))
    }

    @Test func `needs no key to come back, and only its own cookie`() async {
        let answer = await Site().send(.get, "/callback?state=x&code=y")
        #expect(answer.status == 410)
    }

    @Test(arguments: [(false, false), (true, false), (true, true)])
    func `counts as long as the key by which it was begun, or longer if an owner began it`(
        isReplaced: Bool, isOwner: Bool
    ) async throws {
        let site = Site(peerUserIDs: [4711])
        let typed = await site.type("fake-admin-key")
        let key = String(try #require(typed.fields[.setCookie]).prefix { $0 != ";" })
        let begun = await site.send(
            .get, "/login/default", [(.cookie, key)], user: .known(isOwner ? 4711 : 4712))
        let own = String(try #require(begun.fields[.setCookie]).prefix { $0 != ";" })
        let location = try #require(begun.fields[.location])
        let state = try #require(location.firstMatch(of: #/[?&]state=([^&]+)/#)).output.1
        if isReplaced { site.key.replace(with: Secret("another-fake-key"), readAt: .now) }
        let back = "/callback?code=c&state=\(state)&iss=https%3A%2F%2Fsso.example.com"
        let page = await site.send(.get, back, [(.cookie, own)])
        let isOver = isReplaced && !isOwner
        #expect(page.status == (isOver ? 403 : 200), "\(page.text)")
        #expect(page.text.contains("may not log in here any more") == isOver, "\(page.text)")
        #expect(site.identities.actions.contains { $0.hasPrefix("take code") } != isOver)
    }

    /// An address for redirects that has something happen while it begins to receive them.
    private final class Receivers: RedirectReceivers {
        let meanwhile = Mutex<(@Sendable () async -> Void)?>(nil)
        private let isOpen = Mutex(false)

        var areOpen: Bool { isOpen.withLock { $0 } }

        func open(for identity: String) async throws(LoginError) {
            isOpen.withLock { $0 = true }
            await meanwhile.withLock { $0 }?()
        }

        func close(for identity: String, unless isAwaited: @Sendable () -> Bool) async {
            if !isAwaited() { isOpen.withLock { $0 = false } }
        }
    }

    @Test func `is heard of where another one ends as it begins`() async throws {
        let receivers = Receivers()
        let site = Site(receivers: receivers)
        let first = try await site.begin()
        receivers.meanwhile.withLock {
            $0 = { _ = await site.send(.get, first.back, [(.cookie, first.cookie)]) }
        }
        let second = try await site.begin()
        #expect(receivers.areOpen && site.identities.actions.contains { $0.hasPrefix("take code") })
        #expect(await site.send(.get, second.back, [(.cookie, second.cookie)]).status == 200)
        #expect(!receivers.areOpen)
    }

    @Test func `is over after ten minutes`() async throws {
        let start = ContinuousClock.now
        let passed = Mutex(Duration.zero)
        let pending = PendingLogins { start + passed.withLock { $0 } }
        let uri = try #require(RedirectURI("http://127.0.0.1:9090/callback"))
        let request = try await FakeIdentities([]).beginLogin("default", redirectURI: uri.description)
        let cookie = pending.begin(request, of: "default", at: uri, by: OwnerRight(user: .known(0)))
        var fields = HTTPFields()
        fields[.cookie] = String(cookie.prefix { $0 != ";" })
        let state = request.state.withPlaintext { $0 }
        let query = "code=c&state=\(state)&iss=https%3A%2F%2Fsso.example.com"
        passed.withLock { $0 = .seconds(601) }
        guard case .over = pending.answer(query, fields) else {
            Issue.record("a login that took too long was finished")
            return
        }
        #expect(pending.count == 0)
        passed.withLock { $0 = .seconds(602) }
        _ = pending.begin(request, of: "default", at: uri, by: OwnerRight(user: .known(0)))
        #expect(pending.count == 1)
    }
}
