// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import BearerdTestSupport
import Glibc
import OAuth
import Testing

@Suite struct `Secrets in a configuration` {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test(arguments: [
        ("s3cret", "s3cret"), ("s3cret\n", "s3cret"), ("s3cret\r\n", "s3cret"), ("s\n\n", "s\n"),
        (" s ", " s "),
    ])
    func `one line end at the end of a file is not part of the secret`(
        content: String, expected: String
    ) throws {
        let file = try directory.file("secret", content)
        let report = report(withIdentity("client_secret_file: \(file)"))
        #expect(report.lines == [])
        #expect(try report.configuration?.identities.first?.clientSecret?.read().plaintext == expected)
    }

    @Test func `a file is read anew each time`() throws {
        let file = try directory.file("secret", "old")
        let source = try #require(
            report(withIdentity("client_secret_file: \(file)")).configuration?.identities.first?.clientSecret)
        #expect(try source.read().plaintext == "old")
        _ = try directory.file("secret", "new")
        #expect(try source.read().plaintext == "new")
        _ = try directory.file("secret", "new", mode: 0o622)
        #expect(throws: CredentialError.self) { try source.read() }
    }

    @Test func `a pipe without a text is no file with a credential`() throws {
        let pipe = "\(directory.path)/pipe"
        try #require(mkfifo(pipe, 0o600) == 0)
        for key in ["assertion_file", "client_secret_file"] {
            let lines = report(withIdentity("\(key): \(pipe)")).lines
            #expect(lines.contains { $0.hasSuffix("\(pipe) is no file with a text in it") }, "\(lines)")
        }
    }

    @Test func `the store's key is 32 bytes, in whatever form it is given`() throws {
        let key = String(repeating: "5a", count: 32)
        let good = try directory.file("good", key + "\n")
        let bad = try directory.file("bad", "hunter2")
        for line in ["encryption_key: '\(key)'", "encryption_key_file: \(good)"] {
            #expect(report("store: {directory: /s, \(line)}\n" + smallest).lines == [])
        }
        for (line, column) in [("encryption_key: hunter2", 40), ("encryption_key_file: \(bad)", 45)] {
            #expect(
                report("store: {directory: /s, \(line)}\n" + smallest).lines == [
                    "c.yaml:1:\(column): error: store.\(line.prefix { $0 != ":" }): "
                        + "is not 32 bytes in hexadecimal or base64"
                ])
        }
    }

    @Test(arguments: [
        ("{directory: /s, encryption_key_keyring: 'my key'}", []),
        ("{encryption_key_keyring: ''}", ["is empty"]),
        ("{encryption_key_keyring: \"a\\tb\"}", ["holds a control character"]),
        ("{encryption_key_keyring: \(String(repeating: "k", count: 129))}", ["is longer than 128 bytes"]),
        (
            "{encryption_key_keyring: a, encryption_key: '\(String(repeating: "5a", count: 32))'}",
            ["only one of encryption_key and encryption_key_keyring may be given"]
        ),
        ("{type: memory, encryption_key_keyring: a}", ["means nothing to a store in memory"]),
        (
            "{type: redis, url: 'redis://h', encryption_key_keyring: a}",
            ["is one machine's, and a store in Redis is shared: store.encryption_key_file is for a fleet"]
        ),
        ("{type: keyring}", ["'keyring' is not one of file, memory, redis"]),
    ])
    func `the store's key may be in the keyring instead, and nowhere else then`(
        store: String, reasons: [String]
    ) {
        let report = report("store: \(store)\n" + smallest)
        #expect(report.problems.map(\.reason) == reasons)
        guard reasons.isEmpty else { return }
        #expect(
            report.configuration?.store == .file(directory: "/s", encryptionKey: .keyring("my key")))
    }

    @Test func `a credential is a file in systemd's directory`() throws {
        _ = try directory.file("key", "s3cret\n")
        let environment = ["CREDENTIALS_DIRECTORY": directory.path]
        let report = report("access: {key_credential: key}\n" + smallest, environment: environment)
        #expect(try report.configuration?.access.keys.first?.source.read().plaintext == "s3cret")
    }

    @Test func `several keys are read each in its own form, and each is judged`() throws {
        let file = try directory.file("key", "s3cret\n")
        let report = report("access: {key: a, keys: [{key_file: \(file)}, {key: b}]}\n" + smallest)
        #expect(
            try report.configuration?.access.keys.map { try $0.source.read().plaintext } == [
                "a", "s3cret", "b",
            ])
        #expect(reasons("access: {keys: []}") == ["holds no key; leave it out if none is needed"])
        #expect(reasons("access: {keys: [{}]}") == ["is missing: key, key_file or key_credential"])
        #expect(reasons("access: {keys: [a]}") == ["expected a map, found a single value"])
        #expect(
            reasons("access: {keys: [{key: a, key_file: \(file)}]}") == [
                "only one of key and key_file may be given"
            ])
    }

    @Test func `a credential needs systemd's directory and a plain name`() {
        #expect(
            reasons("admin: {key_credential: key}") == [
                "CREDENTIALS_DIRECTORY is not set: systemd gave no credentials; outside of its unit name their directory: "
                    + "sudo env CREDENTIALS_DIRECTORY=DIR bearerd …"
            ])
        #expect(reasons("admin: {key_credential: ../key}") == ["'../key' is not the name of a credential"])
    }

    @Test(arguments: [(0o620, "620"), (0o602, "602"), (0o666, "666")])
    func `a file that others may write is an error`(mode: mode_t, shown: String) throws {
        let file = try directory.file("secret", "s3cret", mode: mode)
        let text = withIdentity("client_secret_file: \(file)")
        #expect(
            report(text).lines == [
                "c.yaml:6:25: error: identities.default.client_secret_file: \(file) may be written by others "
                    + "(mode \(shown)); chmod go-w it"
            ])
    }

    @Test func `a file that everybody may read is a warning`() throws {
        let file = try directory.file("secret", "s3cret", mode: 0o644)
        let report = report(withIdentity("client_secret_file: \(file)"))
        #expect(report.configuration != nil)
        #expect(report.problems.map(\.severity) == [.warning])
    }

    @Test func `a key file is judged like a secret's`() throws {
        let authority = try TLSAuthority()
        let (certificate, key) = try authority.certificate()
        let text = String(decoding: BearerdTestSupport.TemporaryDirectory.contents(of: key), as: UTF8.self)
        let bad = try directory.file("bad", text, mode: 0o660)
        let refused = report(withRoute("client_certificate_file: \(certificate)", "client_key_file: \(bad)"))
        #expect(refused.problems.map(\.path) == ["routes[0].client_key_file"])
        let good = try directory.file("good", text, mode: 0o640)
        let fine = report(withRoute("client_certificate_file: \(certificate)", "client_key_file: \(good)"))
        #expect(fine.lines == [])
        #expect(fine.configuration?.routes.first?.transport.clientCertificate?.keyFile == good)
    }

    @Test func `a certificate needs its key, and a key its certificate`() throws {
        let authority = try TLSAuthority()
        let (certificate, key) = try authority.certificate()
        #expect(
            report(withIdentity("client_certificate_file: \(certificate)")).problems.map(\.path) == [
                "identities.default.client_key_file"
            ])
        #expect(
            report(withIdentity("client_key_file: \(key)")).problems.map(\.path) == [
                "identities.default.client_certificate_file"
            ])
    }

    @Test func `what stands in the files of a connection is looked at`() throws {
        let authority = try TLSAuthority()
        let (certificate, key) = try authority.certificate()
        let other = try authority.certificate(for: ["other.test"]).keyFile
        let rubbish = try directory.file("rubbish", "rubbish")
        func errors(_ lines: String...) -> [String] {
            report(withRoute(lines.joined(separator: "\n"))).lines.filter { $0.contains("error") }
        }
        #expect(errors("ca_file: \(authority.certificateFile)") == [])
        #expect(
            errors("ca_file: \(key)").first?.hasSuffix("ca_file: \(key) holds no certificate in PEM") == true)
        #expect(errors("client_certificate_file: \(certificate)", "client_key_file: \(key)") == [])
        let cases = [
            (rubbish, key, "client_certificate_file: \(rubbish) holds no certificate in PEM"),
            (
                certificate, rubbish,
                "client_key_file: \(rubbish) holds no private key in PEM that can be used without a passphrase"
            ),
            (
                certificate, other,
                "client_key_file: \(other) holds another key than the one that client_certificate_file certifies"
            ),
        ]
        for (certificate, key, expected) in cases {
            let found = errors("client_certificate_file: \(certificate)", "client_key_file: \(key)")
            #expect(found.count == 1 && found.first?.hasSuffix(expected) == true)
        }
    }

    @Test func `an empty or missing file is an error`() throws {
        let empty = try directory.file("secret", "\n")
        #expect(reasons("admin: {key_file: \(empty)}") == ["\(empty) is empty"])
        #expect(
            reasons("admin: {key_file: /nowhere/x}") == [
                "/nowhere/x cannot be read: No such file or directory"
            ])
        #expect(reasons("admin: {key_file: /tmp}") == ["/tmp cannot be read: Is a directory"])
    }

    @Test func `a secret is given in one form only`() throws {
        let file = try directory.file("secret", "s")
        let problems = report("admin:\n  key: s3cret\n  key_file: \(file)\n" + smallest).problems
        #expect(problems.map(\.path) == ["admin.key_file"])
        #expect(problems.map(\.reason) == ["only one of key and key_file may be given"])
    }

    @Test func `no secret prints itself`() throws {
        let text =
            "admin: {key: s3cret}\naccess: {key: s3cret}\n"
            + withIdentity("client_secret: s3cret", "proxy: http://s3cret:s3cret@proxy:80")
        let configuration = try #require(report(text).configuration)
        var dumped = ""
        dump(configuration, to: &dumped)
        dumped += "\(configuration)" + String(reflecting: configuration)
        #expect(!dumped.contains("s3cret"))
    }

    @Test(arguments: [
        "client_secret: \"\"", "client_secret: [s3cret]", "client_secret: {s3cret: s3cret}",
        "proxy: s3cret://s3cret@s3cret", "token_params: {client_secret: s3cret}",
        "token_params: {a: [s3cret]}",
        "token_headers: {authorization: s3cret}", "client_secret: s3cret\nclient_secret: s3cret",
        "client_secret: s3cret\ntoken_endpoint_auth_method: none",
    ])
    func `no secret is in a message`(line: String) {
        let report = report(withIdentity(line))
        #expect(report.configuration == nil)
        #expect(!report.lines.joined().contains("s3cret@") && !report.lines.joined().contains("'s3cret"))
    }

    private func reasons(_ line: String) -> [String] {
        report(line + "\n" + smallest).problems.map(\.reason)
    }
}
