// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

@Suite(.blocking, .needs(.redis))
struct `A daemon that stood still with the lock in its hand` {
    /// How the lock was lost.
    enum Loss: CaseIterable {
        /// By itself, as long as it lives: both clocks say so.
        case lapse
        /// At the server alone: the daemon believes that it still has it.
        case removal
    }

    @Test(arguments: Loss.allCases)
    func `never writes what its own request brings over what another has stored meanwhile`(loss: Loss) throws
    {
        let fleet = try Fleet(isBrief: true)
        let redis = fleet.redis
        let daemons = try fleet.daemons(2)
        // This provider forgives reuse, so that both get an answer; the first waits in the socket when the daemon wakes.
        let (asked, gate, sent) = (Gate(), Gate(), Gate())
        fleet.provider.script(
            { request, provider in
                let reply = provider.tokens(refreshToken: provider.makeRefreshToken())
                asked.open()
                try gate.pass()
                sent.open()
                return reply
            },
            { request, provider in provider.tokens(refreshToken: provider.makeRefreshToken()) })
        let frozen = Background { try daemons[0].act("refresh").status }
        try asked.pass()
        daemons[0].bearerd.process.signal(SIGSTOP)
        if loss == .removal { try redis("DEL", "bearerd:lock:default") }
        try eventually("the lease to end") {
            try redis("EXISTS", "bearerd:lock:default") == "0"
        }
        try eventually("the end of the wait for it") { try daemons[1].act("refresh").status < 300 }
        let record = try redis("GET", "bearerd:session:default")
        let newest = try #require(fleet.provider.latestRefreshToken)
        let others = fleet.provider.accessTokens.last
        let monitor = try redis.monitor()
        gate.open()
        try sent.pass()
        daemons[0].bearerd.process.signal(SIGCONT)
        _ = try frozen.value()
        // Both look three times at least, and find nothing to mend.
        try monitor.output.wait(for: "looks") {
            $0.text.split(separator: "\n").count {
                $0.contains("\"GETRANGE\" \"bearerd:session:default\" \"0\" \"23\"")
            }
                > 6 ? () : nil
        }
        #expect(try redis("GET", "bearerd:session:default") == record)
        #expect(
            !monitor.output.withLock { $0.text }.contains("lua] \"SET\" \"bearerd:session:default\""),
            "not even for a moment")
        try fleet.awaitAgreement(of: daemons)
        for daemon in daemons {
            #expect(try daemon.get().status == 200)
            #expect(fleet.upstream.tokens.last == others, "there is one token of one generation")
        }
        let count = fleet.provider.requests.count
        try eventually("the one that stood still to go on with the other's session") {
            try daemons[0].act("refresh").status < 300 && fleet.provider.requests.count > count
        }
        #expect(fleet.shown[count...].first == newest)
        for daemon in daemons { #expect(try daemon.get().status == 200) }
    }

    @Test func `comes back with an answer, and is waited for by one who doubts, though Redis takes no claim`()
        throws
    {
        let fleet = try Fleet(isBrief: true)
        let redis = fleet.redis
        let daemons = try fleet.daemons(2)
        let (asked, gate, sent) = (Gate(), Gate(), Gate())
        fleet.provider.script { request, provider in
            let reply = provider.goodAnswer(to: request)
            asked.open()
            try gate.pass()
            sent.open()
            return reply
        }
        let frozen = Background { try daemons[0].act("refresh").status }
        try asked.pass()
        daemons[0].bearerd.process.signal(SIGSTOP)
        try eventually("the lease to end") { try redis("EXISTS", "bearerd:lock:default") == "0" }
        let isDoubted = Gate()
        fleet.provider.discovery { _, provider in
            isDoubted.open()
            return provider.discoveryDocument()
        }
        let done = Gate()
        let wanting = Background {
            while (try? done.pass(within: .milliseconds(50))) == nil { _ = try? daemons[1].act("refresh") }
        }
        defer { done.open() }
        try isDoubted.pass()
        // The provider is asked twice, five seconds apart; the lease lives for six.
        RedisOutage.pause(.seconds(3))
        try redis("CONFIG", "SET", "min-replicas-to-write", "1")
        gate.open()
        try sent.pass()
        daemons[0].bearerd.process.signal(SIGCONT)
        for daemon in daemons {
            try eventually("the store to be named") { daemon.bearerd.log.contains("NOREPLICAS") }
        }
        try redis("CONFIG", "SET", "min-replicas-to-write", "0")
        done.open()
        try wanting.value()
        _ = try frozen.value()
        for daemon in daemons {
            try eventually("a rotation") { try daemon.act("refresh").status < 300 }
            #expect(try daemon.get().status == 200, "the provider has ended the session")
        }
        #expect(Set(fleet.shown).count == fleet.shown.count, "a refresh token was sent twice")
    }

    @Test func `does not send its refresh token when TLS with the provider stands`() throws {
        let authority = try TLSAuthority()
        let fleet = try Fleet(
            isBrief: true, provider: HostileProvider(tls: authority.server()),
            identity: "ca_file: \(authority.certificateFile)")
        let daemons = try fleet.daemons(2)
        let relay = try HoldingRelay(to: .tcp(port: fleet.provider.port))
        let slow = try fleet.daemon(identity: "token_endpoint: https://localhost:\(relay.port)/token")
        let all = [slow] + daemons
        try fleet.awaitAgreement(of: all)
        let frozen = Background { try slow.act("refresh").status }
        try relay.isGreeted.pass()
        slow.bearerd.process.signal(SIGSTOP)
        try eventually("the lease to end") { try fleet.redis("EXISTS", "bearerd:lock:default") == "0" }
        try eventually("the end of the wait for it") { try daemons[0].act("refresh").status < 300 }
        relay.mayPass.open()
        try relay.isAnswered.pass()
        slow.bearerd.process.signal(SIGCONT)
        _ = try frozen.value()
        try fleet.awaitAgreement(of: all)
        for daemon in all {
            try eventually("a rotation") { try daemon.act("refresh").status < 300 }
            #expect(try daemon.get().status == 200, "the provider has ended the session")
        }
        #expect(Set(fleet.shown).count == fleet.shown.count)
    }

    @Test func `does not send its refresh token once more, whatever its own answer asks for`() throws {
        // With such a secret a refused client tries the other encoding of HTTP Basic.
        let fleet = try Fleet(isBrief: true, secretEnd: "+/")
        let daemons = try fleet.daemons(2)
        let (asked, gate, sent) = (Gate(), Gate(), Gate())
        fleet.provider.script { _, _ in
            asked.open()
            try gate.pass()
            sent.open()
            return .oauthError("invalid_client", status: 401)
        }
        let frozen = Background { try daemons[0].act("refresh").status }
        try asked.pass()
        daemons[0].bearerd.process.signal(SIGSTOP)
        try eventually("the lease to end") { try fleet.redis("EXISTS", "bearerd:lock:default") == "0" }
        try eventually("the end of the wait for it") { try daemons[1].act("refresh").status < 300 }
        let shown = fleet.shown
        gate.open()
        try sent.pass()
        daemons[0].bearerd.process.signal(SIGCONT)
        _ = try frozen.value()
        try fleet.awaitAgreement(of: daemons)
        for daemon in daemons {
            try eventually("a rotation") { try daemon.act("refresh").status < 300 }
            #expect(try daemon.get().status == 200, "the provider has ended the session")
        }
        let later = fleet.shown.dropFirst(shown.count)
        #expect(Set(later).count == later.count && Set(later).isDisjoint(with: shown))
    }
}
