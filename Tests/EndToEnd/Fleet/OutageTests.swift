// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

// Three suites, because each waits for minutes and suites run beside each other.

@Suite(.blocking, .needs(.redis))
struct `A fleet whose Redis fails in the middle of a rotation` {
    @Test(arguments: RedisOutage.Kind.allCases)
    func `for longer than a lease loses no session that its holder has`(outage: RedisOutage.Kind) throws {
        try RedisOutage.survives(outage, from: .asked, for: .seconds(8))
    }

    @Test(arguments: [RedisOutage.Kind.noReplicas, .standstill, .killKept])
    func `for less than a lease does not either`(outage: RedisOutage.Kind) throws {
        try RedisOutage.survives(outage, from: .asked, for: .seconds(4))
    }
}

@Suite(.blocking, .needs(.redis))
struct `A fleet whose Redis fails while the provider is asked` {
    @Test(arguments: [RedisOutage.Kind.noReplicas, .rights, .standstill, .killKept, .killEmpty, .flush])
    func `for longer than a lease, and shorter than that, loses no session that its holder has`(
        outage: RedisOutage.Kind
    ) throws {
        try RedisOutage.survives(outage, from: .awaited, for: .seconds(8))
    }

    @Test func `and is there again at once, with nothing in it, does not either`() throws {
        let fleet = try Fleet(isBrief: true)
        let redis = fleet.redis
        let daemons = try fleet.daemons(3)
        let before = fleet.provider.requests.count
        let gate = Gate()
        RedisOutage.hang(fleet.provider, until: gate)
        fleet.provider.script { request, provider in
            try redis.kill()
            try redis.start()
            return provider.goodAnswer(to: request).held(by: gate)
        }
        let wanting = daemons.map { daemon in Background { try daemon.act("refresh").status } }
        try fleet.provider.request(before + 1)
        RedisOutage.pause(.seconds(9))
        gate.open()
        for background in wanting { _ = try background.value() }
        try eventually("a rotation by another") {
            _ = try daemons.map { try $0.act("refresh") }
            return fleet.provider.requests.count > before + 1
        }
        try fleet.awaitAgreement(of: daemons)
        #expect(Set(fleet.shown).count == fleet.shown.count, "a refresh token was sent twice")
        for daemon in daemons { #expect(try daemon.state() == "authorized") }
    }
}

@Suite(.blocking, .needs(.redis))
struct `A fleet whose Redis fails around a rotation` {
    /// The ways in which it comes back.
    enum Return: CaseIterable {
        /// As it was.
        case plain
        /// Nobody may write for longer than a lease.
        case readingAlone
        /// Without the key `run`, as from a copy that a version of before has left.
        case unmarked
        /// It tells nobody its run.
        case nameless
    }

    @Test(arguments: Return.allCases)
    func `and comes back with an older session: who starts then waits for whoever has the newer one`(
        return way: Return
    ) throws {
        let fleet = try Fleet(isBrief: true)
        let holder = try fleet.daemons(1)[0]
        if way == .unmarked { try fleet.redis("DEL", "bearerd:run") }
        try fleet.redis("SAVE")
        let older = try holder.identityStatus()["generation"].number
        #expect(try holder.act("refresh").status < 300)
        holder.bearerd.process.signal(SIGSTOP)
        try fleet.redis.kill()
        try fleet.redis.start()
        if way == .nameless { try fleet.redis("ACL", "SETUSER", "default", "-info") }
        if way == .readingAlone { try fleet.redis("CONFIG", "SET", "min-replicas-to-write", "1") }
        let late = try fleet.daemon()
        try eventually("the older session to be read") {
            try late.identityStatus()["generation"].number == older
        }
        if way == .readingAlone {
            RedisOutage.pause(.seconds(8))
            try fleet.redis("CONFIG", "SET", "min-replicas-to-write", "0")
        }
        let refresh = Background { try late.act("refresh").status }
        RedisOutage.pause(.seconds(1))
        holder.bearerd.process.signal(SIGCONT)
        _ = try refresh.value()
        try eventually("a rotation by who has started") { try late.act("refresh").status < 300 }
        try fleet.awaitAgreement(of: [holder, late])
        #expect(Set(fleet.shown).count == fleet.shown.count, "a refresh token was sent twice")
        #expect(try holder.state() == "authorized" && late.state() == "authorized")
    }

    @Test(
        arguments: [RedisOutage.Kind.readOnly, .standstill, .killKept, .flush],
        [RedisOutage.Step.before, .answered])
    func `just before or after it loses no session that its holder has`(
        outage: RedisOutage.Kind, step: RedisOutage.Step
    ) throws {
        try RedisOutage.survives(outage, from: step, for: .seconds(8))
    }
}
