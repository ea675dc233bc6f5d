// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// What somebody who may write to Redis does to a fleet, by mistake or not.
@Suite(.blocking, .needs(.redis))
struct `A fleet in whose Redis somebody else writes` {
    private let fleet: Fleet
    private let daemons: [Sidecar]

    init() throws {
        fleet = try Fleet()
        daemons = try fleet.daemons(2)
    }

    @Test(arguments: ["lock", "spending"])
    func `takes what is no string for no lock and no mark, and goes on`(kind: String) throws {
        let key = "bearerd:\(kind):default"
        for poison in [
            ["LPUSH", key, "x"], ["SADD", key, "x"], ["HSET", key, "x", "y"], ["ZADD", key, "1", "x"],
            ["XADD", key, "*", "x", "y"], ["SET", key, ""],
        ] {
            try awaitAbsence(of: "lock", "spending")
            try fleet.redis.perform(poison)
            #expect(try daemons[0].act("refresh").status < 300, "\(poison)")
        }
        try awaitAbsence(of: "lock", "spending")
        try fleet.redis("LPUSH", key, "x")
        let count = fleet.shown.count
        try daemons[1].importSession()
        // Both daemons want a token for the new session, as soon as they see it.
        try fleet.provider.request(count + 1)
        try awaitAbsence(of: "lock", "spending")
        try fleet.awaitAgreement(of: daemons)
        let shown = fleet.shown
        #expect(Set(shown).count == shown.count)
    }

    /// Waits until these keys are gone: an action is answered before its lock is released.
    private func awaitAbsence(of kinds: String...) throws {
        try eventually("the absence of \(kinds)") {
            try fleet.redis.perform(["EXISTS"] + kinds.map { "bearerd:\($0):default" }) == "0"
        }
    }

    @Test func `gives its own lock back whatever has become of the mark`() throws {
        let redis = fleet.redis
        fleet.provider.script { request, provider in
            try redis("DEL", "bearerd:spending:default")
            try redis("HSET", "bearerd:spending:default", "x", "y")
            // So that it does not end by itself.
            try redis("PERSIST", "bearerd:lock:default")
            return provider.goodAnswer(to: request)
        }
        #expect(try daemons[0].act("refresh").status < 300)
        try awaitAbsence(of: "lock")
        #expect(try daemons[1].act("refresh").status < 300)
    }

    @Test(arguments: ["mine", "lost", "held by a stranger"])
    func `has a lock that somebody made for ever end as one of its own does`(lock: String) throws {
        let redis = fleet.redis
        try redis("SET", "bearerd:lock:default", lock)
        let waiting = Background { [daemon = daemons[0]] in try daemon.act("refresh").status }
        try eventually("an end of the lock") {
            (1...15_000).contains(Int(try redis("PTTL", "bearerd:lock:default")) ?? 0)
        }
        #expect(try redis("GET", "bearerd:lock:default") == lock)
        // As if that end had come.
        try redis("DEL", "bearerd:lock:default")
        _ = try waiting.value()
        try eventually("a rotation") { try daemons[0].act("refresh").status < 300 }
        #expect(Set(fleet.shown).count == fleet.shown.count)
    }

    @Test(arguments: ["lost", "mine", "marked 1"])
    func `takes no mark for a word of its own`(mark: String) throws {
        try fleet.redis("SET", "bearerd:spending:default", mark)
        #expect(try daemons[0].act("refresh").status < 300)
        #expect(!daemons[0].bearerd.log.contains("may be spent"))
    }

    @Test func `stores what its request brings where all was deleted meanwhile, older sessions or not`()
        throws
    {
        let redis = fleet.redis
        fleet.provider.script { request, provider in
            try redis("FLUSHALL")
            // The other one has put back what it has.
            try eventually("an older session") {
                try redis("EXISTS", "bearerd:session:default") == "1"
            }
            return provider.goodAnswer(to: request)
        }
        _ = try daemons[0].act("refresh")
        let newest = try #require(fleet.provider.latestRefreshToken)
        try eventually("the newest session for both") {
            try daemons[0].state() == "authorized" && daemons[0].lastErrorDetail().isEmpty
        }
        try fleet.awaitAgreement(of: daemons)
        let count = fleet.provider.requests.count
        try eventually("a rotation") {
            try daemons[1].act("refresh").status < 300 && fleet.provider.requests.count > count
        }
        #expect(fleet.shown[count...].first == newest)
        #expect(Set(fleet.shown).count == fleet.shown.count)
    }

    @Test func `sends no refresh token again that one of them renewed while Redis was lost`() throws {
        let redis = fleet.redis
        fleet.provider.script { request, provider in
            try redis.kill()
            return provider.goodAnswer(to: request)
        }
        let renewing = Background { try daemons[0].act("refresh").status }
        try daemons[0].bearerd.logLine("what it could not write") {
            $0["level"] == "error" && $0.message.contains("store")
        }
        try redis.start()
        // Another one is the first that comes back, has an older session, and is asked for a newer one.
        try eventually("a renewal by the other") {
            try daemons[1].act("refresh").status < 300
        }
        _ = try renewing.value()
        try fleet.awaitAgreement(of: daemons)
        #expect(Set(fleet.shown).count == fleet.shown.count, "a refresh token was sent twice")
        for daemon in daemons { #expect(try daemon.state() == "authorized") }
    }

    @Test func `sends no refresh token again that is renewed while somebody deletes all`() throws {
        let redis = fleet.redis
        let gate = Gate()
        fleet.provider.script { request, provider in
            try redis("FLUSHALL")
            return provider.goodAnswer(to: request).held(by: gate)
        }
        let before = fleet.provider.requests.count
        let renewing = Background { try daemons[0].act("refresh").status }
        try fleet.provider.request(before + 1)
        // The lock is gone too, so that the other one may have it.
        let other = Background { try daemons[1].act("refresh").status }
        try eventually("an older session") {
            try redis("EXISTS", "bearerd:session:default") == "1"
        }
        gate.open()
        _ = try (renewing.value(), other.value())
        try fleet.awaitAgreement(of: daemons)
        #expect(Set(fleet.shown).count == fleet.shown.count, "a refresh token was sent twice")
        for daemon in daemons { #expect(try daemon.state() == "authorized") }
    }

    @Test func `keeps its connection when a lock, a mark or a session is larger than any`() throws {
        let redis = fleet.redis
        let huge = "20000000"
        try redis("SETRANGE", "bearerd:spending:default", huge, "x")
        #expect(try daemons[0].act("refresh").status < 300)
        try redis("SETRANGE", "bearerd:session:default", huge, "x")
        try eventually("the session to be written back") {
            (1..<10_000).contains(Int(try redis("STRLEN", "bearerd:session:default")) ?? 0)
        }
        try redis("SETRANGE", "bearerd:lock:default", huge, "x")
        try redis("PEXPIRE", "bearerd:lock:default", "700")
        try eventually("a rotation") { try daemons[1].act("refresh").status < 300 }
        for daemon in daemons { #expect(!daemon.bearerd.log.contains("out of reach")) }
        #expect(Set(fleet.shown).count == fleet.shown.count)
    }

    @Test func `says what keeps Redis from writing, and goes on when that is over`() throws {
        let redis = fleet.redis
        for (setting, value, usual, code) in [
            ("maxmemory", "1", "0", "OOM"), ("min-replicas-to-write", "1", "0", "NOREPLICAS"),
        ] {
            try redis("CONFIG", "SET", setting, value)
            #expect(try daemons[0].act("refresh").status == 503)
            try eventually("the reason") { try daemons[0].lastErrorDetail().contains(code) }
            #expect(try daemons[0].get().status == 200, "the token is still good")
            let report = try fleet.command(["doctor", "--check", "store"])
            #expect(report.exit != 0 && report.output.contains(code), "\(report)")
            #expect(report.output.contains(setting) && !report.output.contains("start or reach"), "\(report)")
            #expect(try fleet.command(["status"]).exit == 0)
            try redis("CONFIG", "SET", setting, usual)
            try eventually("a rotation") { try daemons[0].act("refresh").status < 300 }
        }
        #expect(Set(fleet.shown).count == fleet.shown.count)
    }

    @Test func `takes a server that answers and does not write for one that is away, in three lines of log`()
        throws
    {
        let redis = fleet.redis
        let lines = daemons[0].bearerd.logLines.count
        try redis("CLIENT", "PAUSE", "9000", "WRITE")
        #expect(try daemons[0].act("refresh").status == 503)
        try eventually("the reason") { try daemons[0].lastErrorDetail().contains(redis.url) }
        try eventually("a rotation") { try daemons[0].act("refresh").status < 300 }
        let said = daemons[0].bearerd.logLines.dropFirst(lines).filter {
            $0.message.contains("out of reach") || $0.message.contains("reached again")
        }
        #expect((2...3).contains(said.count), "\(said)")
        #expect(said.last?.message.contains("reached again") ?? false)
        #expect(Set(fleet.shown).count == fleet.shown.count)
    }

    @Test func `survives killed connections and a server that stands still, and uses no refresh token twice`()
        throws
    {
        let redis = fleet.redis
        let before = fleet.provider.requests.count
        let working = Background { [daemons] in
            var turns = 0
            while fleet.provider.requests.count < before + 12 || turns < 12 {
                _ = try daemons[turns % 2].act("refresh")
                turns += 1
            }
        }
        while !working.isFinished {
            for words in [
                ["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"], ["CLIENT", "KILL", "TYPE", "pubsub"],
                ["CLIENT", "PAUSE", "300", "ALL"], ["SCRIPT", "FLUSH"], ["DEBUG", "SLEEP", "0.2"],
                ["SCRIPT", "KILL"],
            ] { try redis.perform(words) }
        }
        try working.value()
        try fleet.awaitAgreement(of: daemons)
        #expect(Set(fleet.shown).count == fleet.shown.count)
        for daemon in daemons { try eventually("the token") { try daemon.get().status == 200 } }
    }
}
