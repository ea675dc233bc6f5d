// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// What doctor says when all is well, and of what form.
@Suite(.blocking) struct `Doctor` {
    private static let ids = [
        "daemon", "config", "config-modes", "store", "keyring", "clock", "dns", "tls", "discovery", "jwks",
        "client-auth",
        "token", "refresh-token", "redirect-uri", "par-dpop", "proxy-environment", "upstream", "descriptors",
        "sandbox", "systemd", "admin", "listen",
    ]

    @Test(arguments: [500, 302])
    func `says whose fault a failing discovery is`(status: Int) throws {
        let fixture = try DoctorFixture()
        fixture.provider.discovery { _, _ in .response(status, [], "") }
        let result = try fixture.run("--check", "discovery")
        #expect(result.result(of: "discovery") == "fail", "\(result)")
        #expect(
            result.fix(of: "discovery").hasPrefix(
                status == 500 ? "the provider, which is reached" : "identities.default.issuer"),
            "\(result)")
    }

    @Test func `a proxy or a connect_to that fails is what is to be mended`() throws {
        let nobody = try Socket.refusing()
        var fixture = try DoctorFixture()
        fixture.settings.moreRoutes = """
            - path: /far
              upstream: https://api.invalid
              identity: none
              proxy: http://\(nobody.address)
            - path: /near
              upstream: https://api.invalid
              identity: none
              connect_to: \(nobody.address)
            """
        let rows = try fixture.run("--check", "upstream").checks.filter { $0["result"].string == "fail" }
        #expect(rows.count == 2, "\(rows)")
        for (row, (words, fix)) in zip(
            rows,
            [
                ("the proxy \(nobody.address): connection refused", "proxy of the route"),
                (
                    "connect_to \(nobody.address): connection refused",
                    "start it, or mend connect_to of the route"
                ),
            ])
        {
            #expect(row["seen"].string?.contains(words) == true && row["fix"].string == fix, "\(row)")
        }
    }

    @Test func `finds nothing where all is well, and tells all that it looked at`() throws {
        let fixture = try DoctorFixture()
        let result = try fixture.run(environment: ["https_proxy": ""])
        #expect(result.exit == 0 && result.isSuccess, "\(result)")
        #expect(Set(result.checks.compactMap { $0["id"].string }) == Set(Self.ids), "\(result)")
        #expect(Set(result.troubled).isSubset(of: ["sandbox"]), "\(result)")
        for check in result.checks {
            #expect(Set(check.object.keys) == ["id", "identity", "result", "seen", "fix"])
            #expect(check["seen"].string?.isEmpty == false)
        }
        #expect(result["discovery"]["identity"].string == "default" && result["store"]["identity"] == .null)
        #expect(!result.output.contains("not-a-real-secret"))
    }

    @Test func `changes nothing and asks for no token`() throws {
        let fixture = try DoctorFixture()
        let result = try fixture.run()
        #expect(result.exit == 0, "\(result)")
        #expect(fixture.provider.requests.isEmpty)
        #expect(TemporaryDirectory.entries(of: fixture.directory.path) == ["config.yaml"])
        let sidecar = try Sidecar.ended(provider: fixture.provider)
        let before = sidecar.storedSession
        let names = TemporaryDirectory.entries(of: sidecar.storeDirectory)
        let count = fixture.provider.requests.count
        let again = try BearerdProcess.command("doctor", "-c", sidecar.directory.path("config.yaml"))
        #expect(again.exit == 0 && again.output.contains("good for "), "\(again.output)")
        #expect(sidecar.storedSession == before && fixture.provider.requests.count == count)
        #expect(TemporaryDirectory.entries(of: sidecar.storeDirectory) == names)
    }

    @Test func `tries new tokens when it is told to`() throws {
        let fixture = try DoctorFixture()
        let result = try fixture.run("--live")
        #expect(result.exit == 0, "\(result)")
        #expect(fixture.provider.requests.count == 1)
        #expect(result.seen(by: "client-auth") == "client_secret_basic was accepted")
        #expect(
            result.seen(by: "upstream").hasSuffix("answers 200 without a token, 200 with one"), "\(result)")
        #expect(fixture.upstream.requests.map(\.head.method) == ["HEAD", "HEAD"])
        #expect(!result.output.contains(fixture.provider.accessTokens[0]))
    }

    @Test func `tells a person one line each, in groups`() throws {
        let fixture = try DoctorFixture()
        let file = try fixture.file()
        let result = try BearerdProcess.command("doctor", "-c", file)
        let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(
            lines.first == "daemon" && lines.contains("configuration") && lines.contains("identity default")
                && lines.contains("machine"))
        #expect(
            lines.contains { $0.hasPrefix("ok    discovery          issuer http://") }, "\(result.output)")
        #expect(lines.count { $0.hasPrefix("ok ") || $0.hasPrefix("skip ") || $0.hasPrefix("warn ") } == 22)
        #expect(lines.dropLast().last?.contains("; next: bearerd run -c \(file)") == true, "\(result.output)")
    }

    @Test(arguments: ["tls", "client-auth", "descriptors", "config"])
    func `runs one check alone`(id: String) throws {
        let fixture = try DoctorFixture()
        let result = try fixture.run("--check", id)
        #expect(result.exit == 0 && result.checks.compactMap { $0["id"].string } == [id], "\(result)")
        #expect(try fixture.run("--check=\(id)").checks.count == 1)
    }

    @Test func `has failed where its only check cannot be made`() throws {
        var fixture = try DoctorFixture()
        let nobody = try Socket.refusing()
        fixture.settings.moreIdentities =
            "other: {issuer: 'http://\(nobody.address)', client_id: a, client_secret: b, "
            + "grant_type: client_credentials}"
        fixture.settings.moreRoutes = "- {path: /other, upstream: 'http://127.0.0.1:1', identity: other}"
        let result = try fixture.run("other", "--check", "client-auth")
        #expect(result.exit == 69 && !result.isSuccess, "\(result)")
        #expect(result.result(of: "client-auth") == "skip", "\(result)")
    }

    @Test func `looks at one identity and its routes alone`() throws {
        var fixture = try DoctorFixture()
        fixture.settings.moreIdentities =
            "other: {token_endpoint: 'http://127.0.0.1:1/token', client_id: a, client_secret: b, "
            + "grant_type: client_credentials}"
        fixture.settings.moreRoutes = "- {path: /other, upstream: 'http://127.0.0.1:1', identity: other}"
        let all = try fixture.run()
        #expect(all.exit == 69 && all.checks.count { $0["id"].string == "tls" } == 2, "\(all)")
        #expect(try fixture.run("default").exit == 0)
        let other = try fixture.run("other")
        #expect(other.exit == 69 && other["tls"]["identity"].string == "other", "\(other)")
        #expect(other.seen(by: "upstream").contains("/other at http://127.0.0.1:1"))
    }

    @Test func `refuses what it does not know`() throws {
        let fixture = try DoctorFixture()
        let file = try fixture.file()
        defer { withExtendedLifetime(fixture) {} }
        for words in [["nobody"], ["--check", "tsl"], ["--check"], ["default", "other"]] {
            let result = try Subprocess.run([BearerdProcess.binary, "doctor", "-c", file] + words)
            #expect(result.ending == .exited(64) && result.output.isEmpty, "\(words) \(result)")
        }
    }
}
