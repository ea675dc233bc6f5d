// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdTestSupport
import Glibc
import Testing

@Suite struct `The files of tls` {
    private let authority: TLSAuthority
    private let certificate: String
    private let key: String
    private let directory: TemporaryDirectory

    init() throws {
        authority = try TLSAuthority()
        (certificate, key) = try authority.certificate()
        directory = try TemporaryDirectory()
    }

    private func lines(_ section: String) -> [String] {
        report("tls:\n" + section.split(separator: "\n").map { "  \($0)\n" }.joined() + smallest).lines
    }

    private func lines(
        certificate: String? = nil, key: String? = nil, clients: String? = nil
    ) -> [String] {
        let files = "certificate_file: \(certificate ?? self.certificate)\nkey_file: \(key ?? self.key)\n"
        return lines(files + (clients.map { "client_ca_file: \($0)" } ?? ""))
            .filter { !$0.contains("expires soon") }
    }

    @Test func `are read where they are right`() throws {
        #expect(lines() == [] && lines(clients: authority.certificateFile) == [])
        let text = "tls: {certificate_file: \(certificate), key_file: \(key)}\n" + smallest
        let tls = try #require(report(text).configuration?.tls)
        #expect(tls.clientCAFile == nil && tls.files == [certificate, key])
        #expect(report("listen: 0.0.0.0:1\n" + text).configuration != nil)
    }

    @Test func `come together`() {
        #expect(
            lines("certificate_file: \(certificate)") == [
                "c.yaml:1:1: error: tls.key_file: is missing"
            ])
        #expect(
            lines("client_ca_file: \(authority.certificateFile)") == [
                "c.yaml:1:1: error: tls.certificate_file: is missing",
                "c.yaml:1:1: error: tls.key_file: is missing",
            ])
    }

    @Test(arguments: [
        ("dns: [app.example.com, '*.jobs.example.com']", []), ("uri: 'spiffe://example.org/ns/*/sa/app'", []),
        (
            "{}",
            [
                "tls.client_allow: lets nobody in; list names under dns or uri, or leave it out for every client of the authority"
            ]
        ),
        (
            "dns: []",
            [
                "tls.client_allow: lets nobody in; list names under dns or uri, or leave it out for every client of the authority"
            ]
        ),
        (
            "dns: [app-*.example.com]",
            [
                "tls.client_allow.dns[0]: 'app-*.example.com' is not a host name like app.example.com, in which '*' stands for one whole label"
            ]
        ),
        (
            "uri: [example.org/app]",
            [
                "tls.client_allow.uri[0]: 'example.org/app' is not a URI like spiffe://example.org/ns/*/sa/app, in which '*' stands for one whole segment"
            ]
        ),
        ("dns: [a], cn: [b]", ["tls.client_allow.cn: unknown key; did you mean 'dns'?"]),
    ])
    func `admit clients by names`(rules: String, errors: [String]) {
        let files =
            "certificate_file: \(certificate)\nkey_file: \(key)\nclient_ca_file: \(authority.certificateFile)\n"
        let allow = rules == "{}" ? "client_allow: {}" : "client_allow: {\(rules)}"
        let seen = lines(files + allow).filter { !$0.contains("expires soon") }
        #expect(seen.map { String($0.split(separator: " error: ", maxSplits: 1).last ?? "") } == errors)
    }

    @Test func `need an authority for clients before their names count`() {
        let files = "certificate_file: \(certificate)\nkey_file: \(key)\n"
        #expect(
            lines(files + "client_allow: {dns: [a.example.com]}").filter { !$0.contains("expires soon") } == [
                "c.yaml:4:17: error: tls.client_allow: needs client_ca_file: without it clients show no certificate"
            ])
    }

    @Test func `are all looked at`() {
        #expect(
            lines(certificate: "/no/c", key: "/no/k", clients: "/no/a") == [
                "c.yaml:2:21: error: tls.certificate_file: /no/c cannot be read: No such file or directory",
                "c.yaml:3:13: error: tls.key_file: /no/k cannot be read: No such file or directory",
                "c.yaml:4:19: error: tls.client_ca_file: /no/a cannot be read: No such file or directory",
            ])
    }

    @Test func `must hold what they are named for, and belong together`() throws {
        let rubbish = try directory.file(
            "rubbish", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
        let other = try authority.certificate(for: ["other"]).keyFile
        #expect(
            lines(certificate: rubbish) == [
                "c.yaml:2:21: error: tls.certificate_file: \(rubbish) holds no certificate in PEM"
            ])
        let notAKey = lines(key: rubbish).last
        #expect(
            notAKey
                == "c.yaml:3:13: error: tls.key_file: \(rubbish) holds no private key in PEM that can be used "
                + "without a passphrase")
        #expect(
            lines(key: other) == [
                "c.yaml:3:13: error: tls.key_file: \(other) holds another key than the one that "
                    + "certificate_file certifies"
            ])
        #expect(
            lines(clients: rubbish) == [
                "c.yaml:4:19: error: tls.client_ca_file: \(rubbish) holds no certificate in PEM"
            ])
    }

    @Test func `must not be expired or too weak`() throws {
        let (old, oldKey) = try authority.certificate(days: -1)
        let expired = try #require(lines(certificate: old, key: oldKey).first)
        #expect(
            expired.hasPrefix(
                "c.yaml:2:21: error: tls.certificate_file: \(old) holds a certificate that expired at 20"))
        let (weak, weakKey) = ("\(directory.path)/weak.pem", "\(directory.path)/weak.key")
        defer { for file in [weak, weakKey] { unlink(file) } }
        try openssl([
            "req", "-x509", "-newkey", "rsa:1024", "-nodes", "-subj", "/CN=weak", "-days", "30", "-keyout",
            weakKey, "-out", weak,
        ])
        let refusal = try #require(lines(certificate: weak, key: weakKey).first)
        #expect(refusal.contains("holds a certificate that cannot be used: ee key too small"))
    }

    @Test func `are for their owner to change alone`() throws {
        let text = String(decoding: BearerdTestSupport.TemporaryDirectory.contents(of: key), as: UTF8.self)
        let writable = try directory.file("writable", text, mode: 0o660)
        let readable = try directory.file("readable", text, mode: 0o644)
        #expect(
            lines(key: writable) == [
                "c.yaml:3:13: error: tls.key_file: \(writable) may be written by others (mode 660); chmod go-w it"
            ])
        #expect(
            lines(key: readable) == [
                "c.yaml:3:13: warning: tls.key_file: \(readable) may be read by everybody; chmod o-r it if it can be"
            ])
        let chain = try directory.file(
            "chain",
            String(decoding: BearerdTestSupport.TemporaryDirectory.contents(of: certificate), as: UTF8.self),
            mode: 0o646)
        #expect(lines(certificate: chain, clients: chain).filter { $0.contains("may be written") }.count == 2)
    }

    @Test func `are warned of before they expire`() {
        let text = "tls: {certificate_file: \(certificate), key_file: \(key)}\n" + smallest
        #expect(report(text).problems.map(\.reason).contains { $0.contains("expires soon, at 20") })
    }
}
