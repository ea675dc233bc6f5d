// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// The rights that docs/operations.md says a user at Redis needs.
@Suite(.blocking, .needs(.redis))
struct `The user of a fleet at Redis` {
    private static let password = "not-a-real-password"

    /// The rights as the page has them: keys, the channel, commands.
    private static func documented() throws -> [String] {
        let root = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()
        let page = String(
            decoding: TemporaryDirectory.contents(of: "\(root)/docs/operations.md"), as: UTF8.self)
        let line = try #require(page.split(separator: "\n").first { $0.hasPrefix("ACL SETUSER bearerd ") })
        return line.split(separator: " ").dropFirst(5).map(String.init)
    }

    private let redis: RedisProcess
    private let fleet: Fleet
    private let rights: [String]
    private let directory: TemporaryDirectory

    init() throws {
        rights = try Self.documented()
        redis = try RedisProcess()
        directory = try TemporaryDirectory()
        fleet = try Fleet(
            redis,
            at: """
                url: redis://bearerd@\(redis.address)/3
                password_file: \(try directory.write("password", Self.password + "\n"))
                """)
        try give(rights)
    }

    private func give(_ rights: [String]) throws {
        let words = ["ACL", "SETUSER", "bearerd", "reset", "on", ">" + Self.password] + rights
        let said = try redis.perform(words)
        try #require(said == "OK", "\(said)")
    }

    private func importing() throws -> (exit: Int32, output: String, errors: String) {
        let token = try directory.write("token", fleet.provider.makeRefreshToken() + "\n")
        return try fleet.command(["import", "--refresh-token", token])
    }

    @Test func `needs those that are documented, and each of them`() throws {
        #expect(rights.contains("~bearerd:*") && rights.contains("&bearerd:changes") && rights.count > 10)
        let daemons = try fleet.daemons(2)
        #expect(try daemons[1].act("refresh").status < 300)
        try eventually("the other to have it") {
            try daemons[0].identityStatus()["generation"].number
                == daemons[1].identityStatus()["generation"].number
        }
        let log = try redis("ACL", "LOG")
        #expect(log.isEmpty, "something else was tried: \(log)")
        for daemon in daemons { #expect(!daemon.bearerd.log.contains("NOPERM")) }
        #expect(try fleet.command(["doctor", "--check", "store"]).exit == 0)
        for right in rights {
            try give(rights.filter { $0 != right })
            let report = try fleet.command(["doctor", "--check", "store"])
            let name = right.hasPrefix("+") ? right.dropFirst().uppercased() : String(right.dropFirst())
            #expect(
                report.exit != 0 && report.output.contains(name) && report.output.contains("store.url")
                    && report.output.contains("\(redis.address)") && report.output.contains("ACL SETUSER")
                    && !report.output.contains("start or reach"), "without \(right): \(report)")
            if right == "+set" {
                let refresh = try fleet.command(["refresh"])
                #expect(refresh.exit == 77 && refresh.errors.contains("store.url"), "\(refresh)")
            }
            // A session is read and replaced without what others and doctor need, and without what the lock of
            // another is looked at with where none of the daemons happens to hold it.
            let isForOthers = ["+info", "+publish", "+subscribe", "+del", "&bearerd:changes"].contains(right)
            let isForHeldLocks = ["+pttl", "+pexpire"].contains(right)
            let done = try importing()
            let isTold =
                done.exit == 77 && done.errors.contains("store.url")
                && done.errors.contains("\(redis.address)")
            #expect(
                isForOthers ? done.exit == 0 : isForHeldLocks ? done.exit == 0 || isTold : isTold,
                "without \(right): \(done)")
            try redis("-n", "3", "DEL", "bearerd:lock:default")
        }
    }

    @Test(arguments: ["+publish", "&bearerd:changes", "+subscribe"])
    func `without the channel has stored what it stores, is told so once, and others find it by looking`(
        right: String
    ) throws {
        let daemons = try fleet.daemons(2)
        try give(rights.filter { $0 != right })
        try redis("CLIENT", "KILL", "TYPE", "pubsub")
        for turn in 0..<3 {
            let before = try redis("-n", "3", "GET", "bearerd:session:default")
            #expect(try daemons[turn % 2].act("refresh").status < 300)
            #expect(try redis("-n", "3", "GET", "bearerd:session:default") != before)
            try fleet.awaitAgreement(of: daemons)
        }
        #expect(try importing().exit == 0)
        #expect(Set(fleet.shown).count == fleet.shown.count)
        for daemon in daemons {
            let line = try daemon.bearerd.logLine("what is missing") {
                $0["level"] == "warning" && $0.message.contains("hear of changes late")
            }
            #expect(
                line["reason"]?.contains(right == "+subscribe" ? "SUBSCRIBE" : "bearerd:changes") ?? false)
            #expect(try daemon.lastErrorDetail().isEmpty)
        }
        let warnings = daemons[0].bearerd.logLines.count { $0.message.contains("hear of changes late") }
        #expect(warnings <= 2, "once for telling, once for hearing")
        let report = try fleet.command(["doctor", "--check", "store"])
        #expect(report.exit != 0 && report.output.contains("bearerd:changes"), "\(report)")
    }

    @Test func `that may delete nothing stores what it stores, and leaves its lock to end by itself`() throws
    {
        let daemon = try fleet.daemons(1)[0]
        let lock = "bearerd:lock:default"
        try give(rights.filter { $0 != "+del" })
        let before = try redis("-n", "3", "GET", "bearerd:session:default")
        #expect(try daemon.act("refresh").status < 300)
        #expect(try redis("-n", "3", "GET", "bearerd:session:default") != before)
        #expect((1...15_000).contains(Int(try redis("-n", "3", "PTTL", lock)) ?? 0))
        let line = try daemon.bearerd.logLine("what is missing") { $0.message.contains("wait for its lock") }
        #expect(line["reason"]?.contains("DEL") ?? false)
        let monitor = try redis.monitor()
        try give(rights)
        try monitor.output.wait(for: "the lock to be given back") {
            $0.text.contains("lua] \"DEL\" \"\(lock)\"") ? () : nil
        }
        #expect(try daemon.act("refresh").status < 300)
        #expect(daemon.bearerd.logLines.count { $0.message.contains("wait for its lock") } == 1)
        #expect(Set(fleet.shown).count == fleet.shown.count)
    }

    @Test func `that may no more write is told to people with the key, and goes on when it may`() throws {
        let daemon = try fleet.daemons(1)[0]
        let before = fleet.provider.requests.count
        try give(rights.filter { $0 != "+set" })
        #expect(try daemon.act("refresh").status >= 500)
        #expect(try daemon.lastErrorDetail().contains("store.url"))
        #expect(try daemon.get().status == 200)
        let login = try fleet.command(["login", "--no-browser"])
        #expect(login.exit == 77 && login.errors.contains("SET"), "before anybody has logged in: \(login)")
        #expect(try fleet.command(["status"]).exit == 0)
        #expect(fleet.provider.requests.count == before)
        try give(rights)
        try eventually("a rotation") { try daemon.act("refresh").status < 300 }
    }

    @Test func `that is switched off or renamed is told, and goes on when it is there again`() throws {
        let daemon = try fleet.daemons(1)[0]
        for lock in [["off"], ["resetpass", ">another"]] {
            try redis.perform(["ACL", "SETUSER", "bearerd"] + lock)
            try redis("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            try eventually("the reason") { try daemon.lastErrorDetail().contains("store.password_file") }
            #expect(try daemon.get().status == 200)
            #expect(try daemon.act("refresh").status >= 500)
            #expect(try fleet.command(["status"]).exit == 77)
            try give(rights)
            try eventually("a rotation") { try daemon.act("refresh").status < 300 }
        }
        #expect(Set(fleet.shown).count == fleet.shown.count)
        #expect(!daemon.bearerd.log.contains(Self.password))
    }
}
