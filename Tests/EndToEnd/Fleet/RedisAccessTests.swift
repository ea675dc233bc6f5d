// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Certificates, passwords and rights of a store in Redis.
@Suite(.blocking, .needs(.redis))
struct `Access to a store in Redis` {
    private static let password = "not-a-real-password"
    /// What docs/operations.md says that it needs.
    private static let rights = "~bearerd:* &bearerd:* +@all -@admin -@dangerous +info +role"

    private let authority: TLSAuthority
    private let redis: RedisProcess
    private let fleet: Fleet
    private let directory: TemporaryDirectory
    private let passwordFile: String

    init() throws {
        authority = try TLSAuthority()
        let (certificate, key) = try authority.certificate(for: ["127.0.0.1"])
        redis = try RedisProcess(
            [
                "tls-cert-file \"\(certificate)\"", "tls-key-file \"\(key)\"",
                "tls-ca-cert-file \(authority.certificateFile)", "tls-auth-clients no",
                "user default off", "user root on >root ~* &* +@all",
                "user fleet on >\(Self.password) \(Self.rights)",
                "user weak on >\(Self.password) ~x:* &x:* +@all",
            ], speaksTLS: true)
        redis.logIn("root", "root")
        directory = try TemporaryDirectory()
        passwordFile = try directory.write("password", Self.password + "\n")
        fleet = try Fleet(
            redis,
            at: """
                url: rediss://fleet@\(redis.address)
                password_file: \(passwordFile)
                ca_file: \(authority.certificateFile)
                """)
    }

    @Test func `goes over TLS with a password and no more rights than it says it needs`() throws {
        let daemons = try fleet.daemons(2)
        #expect(try daemons[0].act("refresh").status < 300)
        try eventually("the newest token for both") {
            try daemons[1].identityStatus()["generation"].number
                == daemons[0].identityStatus()["generation"].number
        }
        let report = try fleet.command(["doctor", "--check", "store"])
        #expect(report.exit == 0 && report.output.contains("Redis"), "\(report)")
        for text in [daemons[0].bearerd.log, daemons[1].bearerd.log, report.output] {
            #expect(!text.contains(Self.password))
        }
    }

    @Test func `denied, is told by commands, which name server and key, and by doctor`() throws {
        let other = try TLSAuthority()
        let wrong = try directory.write("wrong", "wrong\n")
        let place = "rediss://\(redis.address)"
        let (url, ca) = ("url: rediss://fleet@\(redis.address)", "ca_file: \(authority.certificateFile)")
        for (name, lines, code, key) in [
            (
                "wrong CA", "\(url)\npassword_file: \(passwordFile)\nca_file: \(other.certificateFile)", 69,
                "store.ca_file"
            ),
            ("wrong password", "\(url)\npassword_file: \(wrong)\n\(ca)", 77, "store.password"),
            ("no password", "url: \(place)\n\(ca)", 77, "store.password"),
            (
                "too few rights",
                "url: rediss://weak@\(redis.address)\npassword_file: \(passwordFile)\n\(ca)", 77, "store.url"
            ),
            ("nobody there", "url: redis://127.0.0.1:1", 69, "store.url"),
        ] as [(String, String, Int32, String)] {
            #expect(try fleet.command(["check"], at: lines).exit == 0, "\(name): check judges keys only")
            for words in [["status"], ["token"], ["login", "--no-browser"]] {
                let done = try fleet.command(words, at: lines)
                #expect(done.exit == code && done.errors.contains(key), "\(name): \(words) \(done)")
                #expect(
                    done.errors.contains(name == "nobody there" ? "127.0.0.1:1" : place), "\(done.errors)")
                #expect(!done.errors.contains(Self.password))
            }
            let report = try fleet.command(["doctor", "--check", "store"], at: lines)
            #expect(report.exit != 0 && report.output.contains(key), "\(name): \(report)")
        }
    }

    @Test func `denied, leaves a daemon up but not ready, until the password is right`() throws {
        let file = try directory.write("changing", "wrong\n")
        let daemon = try fleet.daemon(
            at:
                "url: rediss://fleet@\(redis.address)\npassword_file: \(file)\nca_file: \(authority.certificateFile)",
            grant: "client_credentials")
        try eventually("the reason") { try daemon.lastErrorDetail().contains("store.password") }
        #expect(try daemon.admin("GET", "/healthz").status == 200)
        #expect(try daemon.admin("GET", "/readyz").status == 503)
        #expect(fleet.provider.requests.isEmpty)
        try directory.write("changing", Self.password + "\n")
        try eventually("the token") { try daemon.admin("GET", "/readyz").status == 200 }
        // Redis has another password from now on: who is in stays in, and whoever comes has the new one.
        try redis("ACL", "SETUSER", "fleet", "resetpass", ">another")
        try directory.write("changing", "another\n")
        try redis("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        try eventually("a rotation") { try daemon.act("refresh").status < 300 }
    }
}
