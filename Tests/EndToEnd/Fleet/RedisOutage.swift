// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// Outages of Redis that begin while one of three daemons rotates the refresh token; the others want a new one all the time.
enum RedisOutage {
    /// How it fails, and is there again.
    enum Kind: String, CaseIterable {
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
    static func hang(_ provider: HostileProvider, until gate: Gate) {
        provider.discovery { _, provider in provider.discoveryDocument().held(by: gate) }
    }

    /// How long a lease lives that nobody renews.
    static let lease = Duration.seconds(6)

    static func pause(_ duration: Duration) { try? Gate().pass(within: duration) }

    /// - Parameter length: of the outage, shorter than ``lease`` or longer.
    static func survives(_ outage: Kind, from step: Step, for length: Duration) throws {
        let redis = try RedisProcess(outage == .killKept ? ["appendonly yes", "appendfsync always"] : [])
        let fleet = try Fleet(redis, isBrief: true)
        let daemons = try fleet.daemons(3)
        let (begun, over) = (Gate(), Gate())
        let before = fleet.provider.requests.count
        if step == .before {
            try outage.begin(redis)
            begun.open()
        } else {
            if step == .awaited { hang(fleet.provider, until: over) }
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
        pause(length)
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
            // Whoever gets the lock before its holder may ask once, and finds what the holder stores meanwhile.
            let keepsLease = length < lease
            #expect(!keepsLease || !daemon.bearerd.log.contains("may be spent"), "its holder has the lock")
        }
    }
}
