// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
import Testing

/// Outages of Redis that begin while one of three daemons rotates the refresh token; the others want a new one all the time.
@Suite(.blocking, .needs(.redis))
struct `A fleet whose Redis fails in the middle of a rotation` {
    /// How it fails, and is there again.
    enum Outage: String, CaseIterable {
        case noReplicas, readOnly, fullMemory, rights, standstill, killKept, killEmpty, flush

        func begin(_ redis: RedisProcess) throws {
            switch self {
            case .noReplicas: try redis("CONFIG", "SET", "min-replicas-to-write", "1")
            case .readOnly: try redis("REPLICAOF", "127.0.0.1", "1")
            case .fullMemory: try redis("CONFIG", "SET", "maxmemory", "1")
            case .rights: try redis("ACL", "SETUSER", "default", "-set", "-pexpire", "-del")
            case .standstill: redis.signal(SIGSTOP)
            case .killKept, .killEmpty: try redis.kill()
            case .flush: try redis("FLUSHALL")
            }
        }

        func end(_ redis: RedisProcess) throws {
            switch self {
            case .noReplicas: try redis("CONFIG", "SET", "min-replicas-to-write", "0")
            case .readOnly: try redis("REPLICAOF", "NO", "ONE")
            case .fullMemory: try redis("CONFIG", "SET", "maxmemory", "0")
            case .rights: try redis("ACL", "SETUSER", "default", "+@all")
            case .standstill: redis.signal(SIGCONT)
            case .killKept, .killEmpty: try redis.start()
            case .flush: break
            }
        }
    }

    /// Where in the rotation it begins, and how long the provider takes.
    enum Step: CaseIterable {
        /// Nobody has the lock, and all want it.
        case before
        /// The refresh token has been sent; the answer comes during the outage, and cannot be stored.
        case asked
        /// The same; the answer comes when the outage is over.
        case awaited
        /// The answer is about to be stored.
        case answered
    }

    /// A provider that answers anything but the refresh gets that once more after `timeouts.token` and 5 s, by its holder.
    private static func hang(_ provider: HostileProvider, until gate: Gate) {
        provider.discovery { _, provider in provider.discoveryDocument().held(by: gate) }
    }

    private static func pause(_ duration: Duration) { try? Gate().pass(within: duration) }

    /// - Parameter length: of the outage; a lease lives for 6 s.
    private func survives(_ outage: Outage, from step: Step, for length: Duration) throws {
        let redis = try RedisProcess(outage == .killKept ? ["appendonly yes", "appendfsync always"] : [])
        let fleet = try Fleet(redis, isBrief: true)
        let daemons = try fleet.daemons(3)
        let (begun, over) = (Gate(), Gate())
        let before = fleet.provider.requests.count
        if step == .before {
            try outage.begin(redis)
            begun.open()
        } else {
            if step == .awaited { Self.hang(fleet.provider, until: over) }
            fleet.provider.script { request, provider in
                let reply = provider.goodAnswer(to: request)
                if step == .answered {
                    startThread {
                        try? outage.begin(redis)
                        begun.open()
                    }
                    return reply
                }
                try outage.begin(redis)
                begun.open()
                return step == .awaited ? reply.held(by: over) : reply
            }
        }
        let done = Gate()
        let wanting = daemons.map { daemon in
            Background {
                while (try? done.pass(within: .milliseconds(50))) == nil { _ = try? daemon.act("refresh") }
            }
        }
        defer { done.open() }
        try begun.pass()
        Self.pause(length)
        try outage.end(redis)
        over.open()
        try eventually("rotations to go on") {
            fleet.provider.requests.count >= before + 4
        }
        done.open()
        for background in wanting { try background.value() }
        try fleet.awaitAgreement(of: daemons)
        #expect(Set(fleet.shown).count == fleet.shown.count, "a refresh token was sent twice")
        for daemon in daemons {
            #expect(try daemon.state() == "authorized")
            #expect(try daemon.get().status == 200)
            #expect(fleet.upstream.tokens.last == fleet.provider.accessTokens.last)
            #expect(!daemon.bearerd.log.contains("may be spent"), "its holder lives")
        }
    }

    @Test(arguments: Outage.allCases)
    func `for longer than a lease loses no session that its holder has`(outage: Outage) throws {
        try survives(outage, from: .asked, for: .seconds(8))
    }

    @Test(arguments: [Outage.noReplicas, .standstill, .killKept])
    func `for less than a lease does not either`(outage: Outage) throws {
        try survives(outage, from: .asked, for: .seconds(4))
    }

    @Test(arguments: [Outage.noReplicas, .rights, .standstill, .killKept, .killEmpty, .flush])
    func `for longer than a lease, and shorter than a token request, does not either`(outage: Outage) throws {
        try survives(outage, from: .awaited, for: .seconds(8))
    }

    @Test(arguments: [Outage.readOnly, .standstill, .killKept, .flush], [Step.before, .answered])
    func `just before or after that does not either`(outage: Outage, step: Step) throws {
        try survives(outage, from: step, for: .seconds(8))
    }

    @Test func `and is there again at once, with nothing in it, does not either`() throws {
        let fleet = try Fleet(isBrief: true)
        let redis = fleet.redis
        let daemons = try fleet.daemons(3)
        let before = fleet.provider.requests.count
        let gate = Gate()
        Self.hang(fleet.provider, until: gate)
        fleet.provider.script { request, provider in
            try redis.kill()
            try redis.start()
            return provider.goodAnswer(to: request).held(by: gate)
        }
        let wanting = daemons.map { daemon in Background { try daemon.act("refresh").status } }
        try fleet.provider.request(before + 1)
        Self.pause(.seconds(9))
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
