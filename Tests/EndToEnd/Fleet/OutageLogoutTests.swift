// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// What a logout and a revocation say while Redis cannot be reached, or takes no writes.
@Suite(.blocking, .needs(.redis)) struct `Ending a session while Redis is away` {
    @Test(arguments: [RedisOutage.Kind.killKept, .noReplicas], ["logout", "revoke"])
    func `is not said to be done by a command`(outage: RedisOutage.Kind, command: String) throws {
        let fleet = try Fleet(RedisProcess(["appendonly yes", "appendfsync always"]))
        let daemon = try fleet.daemons(1)[0]
        try outage.begin(fleet.redis)
        let refused = try fleet.command([command])
        #expect(refused.exit == 69 || refused.exit == 74, "\(refused)")
        #expect(!refused.errors.contains(": logged out here") && refused.output.isEmpty, "\(refused)")
        if refused.exit == 69 {
            #expect(refused.errors.contains("a daemon that runs holds the tokens still"), "\(refused)")
        }
        try outage.end(fleet.redis)
        try eventually("the session, as nobody has ended it") {
            try daemon.act("refresh").status == 200
        }
        #expect(try fleet.command(["token"]).exit == 0)
    }

    @Test(arguments: [RedisOutage.Kind.killKept, .noReplicas])
    func `is not said to be done by a daemon, which does it once Redis is back`(
        outage: RedisOutage.Kind
    ) throws {
        let fleet = try Fleet(RedisProcess(["appendonly yes", "appendfsync always"]))
        let daemon = try fleet.daemons(1)[0]
        try outage.begin(fleet.redis)
        let answer = try daemon.act("logout")
        #expect(answer.json["store"].string?.isEmpty == false, "\(answer.text)")
        #expect(try daemon.get().status == 503, "the session has ended here")
        try outage.end(fleet.redis)
        try eventually("the end in the store") { try fleet.command(["token"]).exit == 77 }
        #expect(try daemon.identityStatus()["state"].string == "login_required")
    }
}
