// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// `make soak` runs the first of these for longer, `make soak-fleet` it alone: eight daemons and 8,000 rotations.
@Suite(.blocking, .needs(.redis))
struct `A fleet on a provider that takes no refresh token twice` {
    @Test func `is logged in by whoever logs in, and rotates each refresh token once`() throws {
        let fleet = try Fleet()
        let count = Soak.factor > 1 ? 8 : 3
        let daemons = try (0..<count).map { _ in try fleet.daemon() }
        for daemon in daemons { #expect(try daemon.state() == "login_required") }
        try daemons[0].importSession()
        // The import may still be writing when it is seen: what counts is that nobody waits for a look.
        for daemon in daemons {
            try eventually("the session") { try daemon.get().status == 200 }
        }
        let rotations = 5 * Soak.factor * count
        try fleet.awaitAgreement(of: daemons)
        let (start, first) = (ContinuousClock.now, try daemons[0].identityStatus()["generation"].number ?? 0)
        let before = fleet.provider.requests.count
        let outcomes = try concurrently(count, within: patience * Soak.factor) { index in
            // Who finds that another has just rotated takes what that one got, and asks for none.
            var statuses: [Int] = []
            while fleet.provider.requests.count - before < rotations {
                statuses.append(try daemons[index].act("refresh").status)
            }
            return statuses
        }
        #expect(outcomes.allSatisfy { $0.allSatisfy { $0 < 300 } }, "\(outcomes)")
        let shown = fleet.shown
        #expect(shown.count >= rotations && Set(shown).count == shown.count, "each refresh token once")
        try fleet.awaitAgreement(of: daemons)
        let asked = fleet.provider.requests.count - before
        let made = Int((try daemons[0].identityStatus()["generation"].number ?? 0) - first)
        #expect(made == asked, "one token request a rotation")
        if Soak.factor > 1 {
            print(
                "\(count) daemons: \(asked) token requests, \(made) rotations, "
                    + "\(shown.count - Set(shown).count) refresh tokens twice, \(ContinuousClock.now - start)"
            )
        }
        for daemon in daemons { #expect(try daemon.get().status == 200) }
    }

    @Test func `goes on when the holder of the lock stands still, which then writes nothing`() throws {
        let fleet = try Fleet(isBrief: true)
        let daemons = try fleet.daemons(2)
        let before = fleet.provider.requests.count
        // This provider forgives reuse, so that both get an answer.
        let (asked, gate) = (Gate(), Gate())
        fleet.provider.script(
            { request, provider in
                let reply = provider.tokens(refreshToken: provider.makeRefreshToken())
                asked.open()
                try gate.pass()
                return reply
            },
            { request, provider in provider.tokens(refreshToken: provider.makeRefreshToken()) })
        let frozen = Background { try daemons[0].act("refresh").status }
        try asked.pass()
        daemons[0].bearerd.process.signal(SIGSTOP)
        try eventually("the end of the wait for it") { try daemons[1].act("refresh").status < 300 }
        #expect(fleet.shown.suffix(2).first == fleet.shown.last, "the token that may be spent is tried")
        try daemons[1].bearerd.logLine("a word on the token that may be spent") { line in
            line["level"] == "warning" && line.message.contains("may be spent")
        }
        let record = try fleet.redis("GET", "bearerd:session:default")
        daemons[0].bearerd.process.signal(SIGCONT)
        gate.open()
        _ = try frozen.value()
        #expect(try fleet.redis("GET", "bearerd:session:default") == record)
        let newest = try #require(fleet.provider.latestRefreshToken)
        #expect(fleet.provider.requests.count == before + 2)
        try eventually("the one that stood still to go on with the other's session") {
            try daemons[0].act("refresh").status < 300
        }
        #expect(fleet.shown.last == newest && fleet.provider.requests.count == before + 3)
    }

    @Test func `asks for a login only where the provider refuses what may be spent`() throws {
        let fleet = try Fleet(isBrief: true)
        let daemon = try fleet.daemons(1)[0]
        let generation = try #require(try daemon.identityStatus()["generation"].number)
        try fleet.redis("SET", "bearerd:spending:default", "\(Int(generation)) word process 7 on web-1")
        try eventually("the end of the wait") { try daemon.act("refresh").status < 300 }
        #expect(try daemon.state() == "authorized")
        try daemon.bearerd.logLine("a word on the token that may be spent") {
            $0.message.contains("may be spent")
        }
        #expect(daemon.bearerd.logLines.count { $0.message.contains("may be spent") } == 1)
        #expect(try fleet.redis("EXISTS", "bearerd:spending:default") == "0")
        try fleet.redis("SET", "bearerd:spending:default", "\(Int(generation) + 1) word process 7 on web-1")
        fleet.provider.script { _, _ in .oauthError("invalid_grant") }
        try eventually("the login to be asked for") {
            _ = try daemon.act("refresh")
            return try daemon.state() == "login_required"
        }
    }

    @Test
    func
        `uses what it has while Redis is away, writes it back to one that has lost all, in three lines of log`()
        throws
    {
        let fleet = try Fleet()
        let daemons = try fleet.daemons(2)
        let before = fleet.provider.requests.count
        let lines = daemons[0].bearerd.logLines.count
        try fleet.redis.kill()
        try daemons[0].bearerd.logLine("the outage") { $0.message.contains("out of reach") }
        #expect(try fleet.command(["refresh"]).exit == 69)
        for daemon in daemons {
            try eventually("the reason") { try daemon.lastErrorDetail().contains(fleet.redis.url) }
            #expect(try daemon.get().status == 200)
            #expect(try daemon.admin("GET", "/readyz").status == 200)
        }
        #expect(fleet.provider.requests.count == before, "nothing is renewed without the lock")
        try fleet.redis.start()
        try eventually("the session to be written back") {
            try fleet.redis("EXISTS", "bearerd:session:default") == "1"
        }
        try daemons[0].bearerd.logLine("the end of the outage") {
            $0.message.contains("can be reached again")
        }
        let said = daemons[0].bearerd.logLines.dropFirst(lines).filter {
            $0["level"] != "info" && $0["msg"] != "request"
        }
        #expect(said.count <= 3, "\(said)")
        let next = try fleet.daemon()
        try next.awaitToken()
        #expect(fleet.provider.requests.count == before, "the new one asks nobody")
        try eventually("a rotation") { try next.act("refresh").status < 300 }
        for daemon in daemons {
            try eventually("the newest token") {
                try daemon.identityStatus()["generation"].number == next.identityStatus()["generation"].number
            }
        }
    }

    @Test func `writes a logout back that Redis has lost, before somebody adopts the session`() throws {
        let fleet = try Fleet()
        let daemons = try fleet.daemons(2)
        let key = "bearerd:session:default"
        #expect(try fleet.redis("COPY", key, "before") == "1")
        #expect(try daemons[0].act("logout").status < 300)
        for daemon in daemons { try eventually("the end") { try daemon.state() == "login_required" } }
        #expect(try fleet.redis("COPY", "before", key, "REPLACE") == "1")
        try eventually("the logout to be written again") {
            try fleet.redis("GET", key) != fleet.redis("GET", "before")
        }
        let next = try fleet.daemon()
        try eventually("it to know of the logout") { try next.state() == "login_required" }
        #expect(try next.get().status == 503)
    }

    @Test func `finds the new master by its sentinels, and gives it the write that it has lost`() throws {
        let master = try RedisProcess()
        let replica = try RedisProcess(["replicaof 127.0.0.1 \(master.address.port)"])
        let sentinel = try RedisProcess(
            [
                "sentinel monitor fleet 127.0.0.1 \(master.address.port) 1",
                "sentinel down-after-milliseconds fleet 500", "sentinel failover-timeout fleet 2000",
            ], isSentinel: true)
        try eventually("the sentinel to know the replica") {
            try sentinel("SENTINEL", "replicas", "fleet").contains("\(replica.address.port)")
        }
        try eventually("the replica to follow") { try replica("ROLE").contains("connected") }
        let fleet = try Fleet(
            master, at: "sentinels: ['\(sentinel.address)']\nmaster_name: fleet")
        let daemon = try fleet.daemons(1)[0]
        try eventually("the replica to have it") { try replica("EXISTS", "bearerd:session:default") == "1" }
        let old = try replica("GET", "bearerd:session:default")
        replica.signal(SIGSTOP)
        #expect(try daemon.act("refresh").status < 300)
        try master.kill()
        replica.signal(SIGCONT)
        let before = fleet.provider.requests.count
        try eventually("the failover") { try replica("ROLE").hasPrefix("master") }
        try eventually("the lost write") {
            let present = try replica("GET", "bearerd:session:default")
            return present != old && !present.isEmpty
        }
        #expect(fleet.provider.requests.count == before)
        // For the life of a lease somebody else might have what is newer still.
        try eventually("a rotation") { try daemon.act("refresh").status < 300 }
        #expect(Set(fleet.shown).count == fleet.shown.count)
    }
}
