// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdEventLoop
import BearerdHTTPMessages
import BearerdSystem
import Synchronization
import Testing

@testable import BearerdAdmin

struct `Guesses of the admin key` {
    private func get(
        _ responder: AdminResponder, from peer: PeerAddress, key: String?, path: String = "/api/status"
    ) async -> Answer {
        var fixture = AdminFixture()
        fixture.peer = peer
        var request = HTTPRequest(method: .get, target: path)
        request.fields[.host] = "localhost"
        if let key { request.fields[.authorization] = "Bearer \(key)" }
        return await fixture.send(request, to: responder)
    }

    @Test(arguments: [PeerAddress.ip("192.0.2.1"), .ip("2001:db8::1"), .ip("fe80::1%eth0")])
    func `after ten wrong keys none of that peer counts`(peer: PeerAddress) async throws {
        let responder = AdminFixture(key: Secret("k"), needsKey: true).responder()
        for guess in 0..<10 {
            #expect(await get(responder, from: peer, key: "guess \(guess)").status == 403)
            #expect(await get(responder, from: peer, key: "k").status == (guess < 9 ? 200 : 429))
        }
        let answer = await get(responder, from: peer, key: "k")
        #expect(answer.status == 429 && answer.code == "rate_limited")
        #expect((1...61).contains(try #require(answer.fields[.retryAfter].flatMap(Int.init))))
        #expect(await get(responder, from: peer, key: "k", path: "/healthz").status == 200)
        #expect(await get(responder, from: .ip("192.0.2.2"), key: "k").status == 200)
    }

    @Test(arguments: [PeerAddress.ip("127.0.0.1"), .ip("::1"), .unix(user: 7, process: 7)])
    func `after ten wrong keys a user of this machine reads on, and none of its keys counts`(
        peer: PeerAddress
    ) async {
        let responder = AdminFixture(key: Secret("k")).responder()
        func post(_ key: String, as user: UInt32 = 7, isInOwnField: Bool = false) async -> Int {
            var fixture = AdminFixture()
            fixture.peer = if case .unix = peer { .unix(user: user, process: 1) } else { peer }
            fixture.user = .known(user)
            var request = HTTPRequest(method: .post, target: "/api/identities/default/refresh")
            request.fields[.host] = "localhost"
            request.fields[.bearerdAdmin] = isInOwnField ? key : "1"
            if !isInOwnField { request.fields[.authorization] = "Bearer \(key)" }
            return await fixture.send(request, to: responder).status
        }
        for guess in 0..<10 {
            #expect(await post("guess \(guess)") == 403)
            #expect(await post("k") == (guess < 9 ? 200 : 429))
        }
        // Neither tells which of the two is right.
        for key in ["k", "x"] { #expect(await post(key, isInOwnField: true) == 429) }
        #expect(await post("k", as: 8) == 200, "another user has guessed nothing")
        for key in [nil, "k", "x"] {
            var fixture = AdminFixture()
            fixture.peer = peer
            fixture.user = .known(7)
            var request = HTTPRequest(method: .get, target: "/api/status")
            request.fields[.host] = "localhost"
            if let key { request.fields[.authorization] = "Bearer \(key)" }
            #expect(await fixture.send(request, to: responder).status == 200)
        }
    }

    @Test func `an IPv6 network is one guesser, and several keys in one request are several guesses`() async {
        let responder = AdminFixture(key: Secret("k"), needsKey: true).responder()
        for host in 0..<10 { _ = await get(responder, from: .ip("2001:db8::\(host):1"), key: "x") }
        #expect(await get(responder, from: .ip("2001:db8:0:0:ffff::9"), key: "k").status == 429)
        #expect(await get(responder, from: .ip("2001:db8:0:1::1"), key: "k").status == 200)

        var request = HTTPRequest(method: .get, target: "/api/status")
        request.fields[.host] = "localhost"
        for guess in 0..<20 { _ = request.fields.append(.authorization, "Bearer \(guess)") }
        var fixture = AdminFixture()
        fixture.peer = .ip("192.0.2.7")
        #expect(await fixture.send(request, to: responder).status == 403)
        #expect(await get(responder, from: .ip("192.0.2.7"), key: "k").status == 429)
    }

    @Test func `the minute ends, and the table is bounded`() {
        let now = Mutex(ContinuousClock.now)
        let guesses = KeyGuesses(now: { now.withLock { $0 } })
        let peer = PeerAddress.ip("192.0.2.1")
        guesses.wrong(10, from: peer)
        #expect(guesses.delay(for: peer) == .seconds(60))
        now.withLock { $0 += .seconds(59) }
        #expect(guesses.delay(for: peer) == .seconds(1))
        now.withLock { $0 += .seconds(1) }
        #expect(guesses.delay(for: peer) == nil)
        guesses.wrong(1, from: peer)
        #expect(guesses.delay(for: peer) == nil)

        guesses.wrong(9, from: peer)
        for third in 0..<8 {
            for fourth in 0..<255 { guesses.wrong(1, from: .ip("198.51.\(third).\(fourth)")) }
        }
        #expect(guesses.count <= 1024)
    }

    @Test func `a caller of this machine needs no key, another one does`() async {
        let responder = AdminFixture(key: Secret("k"), needsKey: true).responder()
        for address in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            #expect(await get(responder, from: .ip(address), key: nil).status == 200, "\(address)")
            #expect(await get(responder, from: .ip(address), key: "x").status == 403, "\(address)")
        }
        for address in ["192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "10.0.0.1"] {
            #expect(await get(responder, from: .ip(address), key: nil).status == 403, "\(address)")
            #expect(await get(responder, from: .ip(address), key: "k").status == 200, "\(address)")
        }
    }

    @Test(arguments: [
        (PeerAddress.unix(user: 54321, process: 1), 403), (.ip("127.0.0.1"), 403), (.unknown, 403),
        (.unix(user: 0, process: 1), 400),
    ])
    func `a session is taken from our own user and root, or with the key, and so is every change`(
        peer: PeerAddress, status: Int
    ) async {
        for key in [nil, Secret("k")] {
            var fixture = AdminFixture(key: key)
            fixture.peer = peer
            var request = HTTPRequest(method: .post, target: "/api/identities/default/session")
            request.fields[.host] = "localhost"
            request.fields[.bearerdAdmin] = "1"
            #expect(await fixture.send(request, to: fixture.responder()).status == status)
            for path in ["/api/identities/default/refresh", "/api/reload"] {
                let change = await fixture.send(.post, path, [(.bearerdAdmin, "1")])
                #expect(change.status == (status == 403 ? 403 : 200), "\(path)")
                guard status == 403, peer != .unknown else { continue }
                for word in ["admin.key", "admin.peer_uids"] { #expect(change.text.contains(word)) }
            }
            let login = await fixture.get("/login/default", [(.accept, "text/html")])
            #expect((login.status == 403) == (status == 403))
            #expect(login.text.contains("password") == (status == 403 && key != nil))
            guard key != nil else { continue }
            request.fields[.authorization] = "Bearer k"
            #expect(await fixture.send(request, to: fixture.responder()).status == 400)
        }
    }

    @Test(arguments: [
        (PeerUser.known(7), 403), (.known(8), 200), (.known(0), 200),
        (.known(CurrentProcess.effectiveUser), 200), (.nobody, 403), (.ofOtherNamespace, 403),
        (.undiagnosed(SystemError(.socketDiagnosis, code: 97)), 403),
    ])
    func `on loopback a change is for our own user, root and those who are listed`(
        user: PeerUser, status: Int
    ) async {
        var fixture = AdminFixture(peerUserIDs: [8])
        for address in ["127.0.0.1", "::1"] {
            fixture.peer = .ip(address)
            fixture.user = user
            let change = await fixture.send(
                .post, "/api/identities/default/refresh", [(.bearerdAdmin, "1")])
            #expect(change.status == status)
            #expect(await fixture.get("/api/status").status == 200)
        }
    }
}
