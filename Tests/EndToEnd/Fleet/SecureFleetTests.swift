// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Redis servers that want certificates of their clients, and sentinels that want passwords too.
@Suite(.blocking, .needs(.redis))
struct `A store in Redis that wants certificates` {
    private static let password = "not-a-real-password"
    private static let rights = "~bearerd:* &bearerd:* +@all -@admin -@dangerous +info +role"

    private let authority: TLSAuthority
    private let directory: TemporaryDirectory
    private let passwordFile: String

    init() throws {
        authority = try TLSAuthority()
        directory = try TemporaryDirectory()
        passwordFile = try directory.write("password", Self.password + "\n")
    }

    /// What a server says of TLS: it wants certificates of all who come, and shows its own to those that it goes to.
    private func security() throws -> [String] {
        let (certificate, key) = try authority.certificate(for: ["127.0.0.1"])
        return [
            "tls-cert-file \"\(certificate)\"", "tls-key-file \"\(key)\"",
            "tls-ca-cert-file \(authority.certificateFile)", "tls-auth-clients yes", "tls-replication yes",
        ]
    }

    /// A server where `root` may do all, and `fleet` what docs/operations.md says.
    private func server(_ lines: [String] = []) throws -> RedisProcess {
        let server = try RedisProcess(
            try security() + [
                "requirepass root", "masterauth root", "user fleet on >\(Self.password) \(Self.rights)",
            ] + lines, speaksTLS: true)
        server.logIn("default", "root")
        return server
    }

    /// Lines of the section `store`.
    private func place(_ first: String, _ own: (certificateFile: String, keyFile: String)? = nil) -> String {
        let certificate = own.map {
            "client_certificate_file: \($0.certificateFile)\nclient_key_file: \($0.keyFile)\n"
        }
        return """
            \(first)
            password_file: \(passwordFile)
            ca_file: \(authority.certificateFile)
            \(certificate ?? "")
            """
    }

    @Test func `lets in who has one, and nobody else, who hears which key that is`() throws {
        let redis = try server()
        let url = "url: rediss://fleet@\(redis.address)"
        let fleet = try Fleet(redis, at: place(url, try authority.client()))
        let daemons = try fleet.daemons(2)
        #expect(try daemons[0].act("refresh").status < 300)
        try fleet.awaitAgreement(of: daemons)
        let other = try TLSAuthority()
        defer { withExtendedLifetime(other) {} }
        for (name, own) in [("none", nil), ("a stranger's", try other.client())] {
            for words in [["status"], ["doctor", "--check", "store"]] {
                let done = try fleet.command(words, at: place(url, own))
                #expect(done.exit == 69, "\(name): \(done)")
                let said = done.output + done.errors
                #expect(
                    said.contains("store.client_certificate_file")
                        && said.contains("rediss://\(redis.address)"),
                    "\(name): \(said)")
            }
        }
    }

    @Test func `may come to have another authority while daemons run`() throws {
        func show(_ authority: TLSAuthority) throws {
            let (certificate, key) = try authority.certificate(for: ["127.0.0.1"])
            try directory.write("cert.pem", bytes: TemporaryDirectory.contents(of: certificate))
            try directory.write("key.pem", bytes: TemporaryDirectory.contents(of: key))
        }
        func trust(_ authority: TLSAuthority) throws {
            try directory.write("ca.pem", bytes: TemporaryDirectory.contents(of: authority.certificateFile))
        }
        try show(authority)
        try trust(authority)
        let redis = try RedisProcess(
            [
                "tls-cert-file \(directory.path("cert.pem"))", "tls-key-file \(directory.path("key.pem"))",
                "tls-ca-cert-file \(authority.certificateFile)", "tls-auth-clients no",
            ], speaksTLS: true)
        let fleet = try Fleet(
            redis, at: "url: rediss://\(redis.address)\nca_file: \(directory.path("ca.pem"))")
        let daemon = try fleet.daemons(1)[0]
        #expect(try daemon.act("refresh").status < 300)
        let other = try TLSAuthority()
        try redis.kill()
        try show(other)
        try redis.start()
        try daemon.bearerd.logLine("that it is away") { $0.message.contains("the store is out of reach") }
        #expect(try daemon.act("refresh").status == 503)
        try trust(other)
        try eventually("a rotation") { try daemon.act("refresh").status < 300 }
        #expect(Set(fleet.shown).count == fleet.shown.count)
    }

    @Test(arguments: [
        "requirepass \(password)",
        """
        user fleet on >\(password) +sentinel|get-master-addr-by-name
        user root on >\(password) ~* &* +@all
        user default off
        """,
        "user fleet on >\(password) ~* &* +@all\nuser default on nopass -@all +auth +ping +hello",
    ])
    func `is found by sentinels that want them and a password, also when another server becomes the master`(
        access: String
    ) throws {
        let master = try server()
        let replica = try server(["replicaof 127.0.0.1 \(master.address.port)"])
        let sentinel = try RedisProcess(
            try security() + [
                "sentinel monitor fleet 127.0.0.1 \(master.address.port) 1", "sentinel auth-pass fleet root",
                "sentinel failover-timeout fleet 2000", access,
            ], isSentinel: true, speaksTLS: true)
        let person = ["default", "root", "fleet"].first { access.contains("user \($0) on >") } ?? "default"
        sentinel.logIn(person, Self.password)
        try eventually("the sentinel to know the replica") {
            try sentinel("SENTINEL", "replicas", "fleet").contains("\(replica.address.port)")
        }
        try eventually("the replica to follow") { try replica("ROLE").contains("connected") }
        let fleet = try Fleet(
            master,
            at: place(
                "url: rediss://fleet@redis/0\nsentinels: ['\(sentinel.address)']\nmaster_name: fleet",
                try authority.client()))
        let daemons = try fleet.daemons(2)
        #expect(try daemons[0].act("refresh").status < 300)
        try eventually("the replica to have it") { try replica("EXISTS", "bearerd:session:default") == "1" }
        try eventually("a failover") { try sentinel("SENTINEL", "FAILOVER", "fleet") == "OK" }
        try eventually("another master") { try replica("ROLE").hasPrefix("master") }
        let before = try replica("GET", "bearerd:session:default")
        try eventually("a rotation") { try daemons[1].act("refresh").status < 300 }
        try eventually("it to be written there") { try replica("GET", "bearerd:session:default") != before }
        try fleet.awaitAgreement(of: daemons)
        #expect(Set(fleet.shown).count == fleet.shown.count)
        for daemon in daemons { #expect(!daemon.bearerd.log.contains(Self.password)) }
    }
}
