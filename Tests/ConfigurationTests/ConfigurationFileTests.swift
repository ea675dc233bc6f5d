// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdHTTPMessages
import BearerdRouting
import BearerdTestSupport
import Glibc
import Testing

/// The file itself, and the files that it names: who may change and read them, and where they are.
@Suite struct `The files of a configuration` {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func read(
        _ text: String, mode: mode_t = 0o600, environment: [String: String] = [:]
    ) throws -> ConfigurationReport {
        let file = try directory.file("c.yaml", text, mode: mode)
        return ConfigurationReport(path: file, environment: { environment[$0] })
    }

    private var place: String { "\(directory.path)/c.yaml" }

    // MARK: Modes

    @Test(arguments: [0o620, 0o602, 0o666, 0o622] as [mode_t])
    func `may be changed by nobody else`(mode: mode_t) throws {
        let report = try read(smallest, mode: mode)
        let shown = String(mode, radix: 8)
        #expect(
            report.lines == [
                "\(place):1:1: error: the file may be written by others (mode \(shown)); chmod go-w it"
            ])
        #expect(report.configuration == nil)
    }

    @Test(arguments: [
        ("client_secret: s3cret", 6), ("proxy: http://user:s3cret@proxy.example.com:3128", 6),
        ("initial_access_token: s3cret", 6),
    ])
    func `are not for everybody to read with a secret in them`(line: String, number: Int) throws {
        let report = try read(withIdentity(line), mode: 0o644)
        #expect(report.configuration != nil)
        #expect(report.lines.count == 1 && report.lines[0].hasPrefix("\(place):\(number):"))
        #expect(report.lines.first?.contains(": warning: ") == true)
        #expect(report.lines.first?.contains("may be read by everybody (mode 644)") == true)
        #expect(!report.lines.joined().contains("s3cret"))
        #expect(try read(withIdentity(line), mode: 0o640).lines == [])
    }

    @Test func `may be read by everybody where no secret is in them`() throws {
        let file = try directory.file("secret", "s3cret")
        #expect(try read(smallest, mode: 0o644).lines == [])
        #expect(try read(withIdentity("client_secret_file: \(file)"), mode: 0o644).lines == [])
        let report = try read(
            withIdentity("client_secret: ${S}"), mode: 0o644, environment: ["S": "s3cret"])
        #expect(report.lines == [])
    }

    @Test(arguments: [0o664, 0o646, 0o666] as [mode_t])
    func `with certificates may be changed by nobody else`(mode: mode_t) throws {
        let authority = try TLSAuthority()
        let (certificate, key) = try authority.certificate()
        let shown = String(mode, radix: 8)
        for (text, path) in [
            (withIdentity("ca_file: \(authority.certificateFile)"), authority.certificateFile),
            (withRoute("ca_file: \(authority.certificateFile)"), authority.certificateFile),
            (
                withRoute("client_certificate_file: \(certificate)", "client_key_file: \(key)"),
                certificate
            ),
            ("tls: {certificate_file: \(certificate), key_file: \(key)}\n" + smallest, certificate),
        ] {
            let before = report(text).lines.filter { $0.contains(": error: ") }
            #expect(before == [])
            #expect(chmod(path, mode) == 0)
            let lines = report(text).lines.filter { $0.contains(": error: ") }
            #expect(lines.count == 1, "\(lines)")
            #expect(
                lines.first?.hasSuffix("\(path) may be written by others (mode \(shown)); chmod go-w it")
                    == true)
            #expect(chmod(path, 0o644) == 0)
        }
    }

    // MARK: Places

    @Test func `are relative to it`() throws {
        let authority = try TLSAuthority()
        let (certificate, key) = try authority.certificate()
        for (path, name) in [(certificate, "c.pem"), (key, "k.pem"), (authority.certificateFile, "ca.pem")] {
            #expect(symlink(path, "\(directory.path)/\(name)") == 0)
        }
        defer { for name in ["c.pem", "k.pem", "ca.pem"] { unlink("\(directory.path)/\(name)") } }
        _ = try directory.file("secret", "s3cret")
        _ = try directory.file("hook", "#!/bin/sh\n", mode: 0o700)
        let text = """
            listen: [127.0.0.1:8080, unix:run.sock]
            tls: {certificate_file: c.pem, key_file: ./k.pem, client_ca_file: ca.pem}
            admin: {listen: unix:admin.sock}
            on_state_change: [./hook, plain/argument]
            identities:
              default:
                issuer: https://sso.example.com
                client_id: app
                client_secret_file: secret
                ca_file: ca.pem
            routes:
              - {listen: unix:run.sock, upstream: http+unix:up/api.sock, identity: default}
            store: {directory: state/here}
            """
        let report = try read(text)
        let configuration = try #require(report.configuration, "\(report.lines)")
        let base = directory.path
        #expect(configuration.listen.last == .unix(path: "\(base)/run.sock"))
        #expect(configuration.admin?.listen == .unix(path: "\(base)/admin.sock"))
        #expect(configuration.tls?.files == ["\(base)/c.pem", "\(base)/k.pem", "\(base)/ca.pem"])
        #expect(configuration.onStateChange == ["\(base)/hook", "plain/argument"])
        #expect(configuration.identities.first?.transport.caFile == "\(base)/ca.pem")
        #expect(try configuration.identities.first?.clientSecret?.read().plaintext == "s3cret")
        #expect(configuration.routes.first?.key.listen == .unix(path: "\(base)/run.sock"))
        #expect(configuration.routes.first?.upstream.socketPath == "\(base)/up/api.sock")
        #expect(configuration.store.directory == "\(base)/state/here")
    }

    @Test func `name a command of on_state_change that can be run`() throws {
        func problems(_ program: String, _ more: String = "") throws -> [String] {
            let text = "on_state_change: [\(program), x]\n" + smallest + more
            return report(text).problems.map { "\($0.severity.rawValue) \($0.path): \($0.reason)" }
        }
        let plain = try directory.file("plain", "#!/bin/sh\n")
        #expect(try problems("/nonexist") == ["error on_state_change: /nonexist is not there"])
        #expect(try problems(directory.path).first?.contains("is a directory") == true)
        #expect(try problems(plain).first?.contains("chmod +x") == true)
        #expect(
            try problems("no-such-program-anywhere").first?.hasPrefix("warning on_state_change: no-such")
                == true)
        #expect(try problems("/bin/true").isEmpty)
    }

    @Test func `keep what is absolute, and programs that PATH finds`() throws {
        let report = try read(
            "on_state_change: [logger]\nstore: {directory: /var/lib/x}\nlisten: unix:/run/x.sock\n" + smallest
        )
        #expect(report.configuration?.onStateChange == ["logger"])
        #expect(report.configuration?.store.directory == "/var/lib/x")
        #expect(report.configuration?.listen == [.unix(path: "/run/x.sock")])
    }

    @Test func `have sockets whose whole path is short enough`() throws {
        let name = String(repeating: "s", count: 100)
        let report = try read("listen: unix:\(name)\n" + smallest)
        #expect(report.lines.count == 1 && report.lines[0].contains("is too long"), "\(report.lines)")
    }

    // MARK: Words

    @Test func `have problems of one line each, whatever is in them`() {
        let lines = report(
            "log: {level: \"lo\\nud\\e[31m\"}\n\"od\\nd\\x1b\": 1\nworkers: \"a\\r\\nb\"\n" + smallest
        ).lines
        #expect(lines.count == 3)
        for line in lines { #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }) }
        #expect(lines[0].contains(#"'lo\nud\u001b[31m'"#))
    }
}
