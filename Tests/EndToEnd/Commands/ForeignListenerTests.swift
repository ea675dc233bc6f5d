// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// Commands whose daemon is away, and whose port another user of the machine has taken.
@Suite(.blocking, .needs(.root)) struct `A stranger where the daemon should listen` {
    private static let key = "fake-admin-key-of-a-test"

    private struct Site {
        let directory: TemporaryDirectory
        let provider: HostileProvider
        let file: String
        let token: String

        init(_ stranger: StrangerListener, admin: String = "") throws {
            directory = try TemporaryDirectory()
            provider = try HostileProvider()
            file = try directory.write(
                "config.yaml",
                Sidecar.configuration(
                    provider: provider, upstream: "http://127.0.0.1:1", clientSecret: "s",
                    directory: directory,
                    .init(admin: "key: \(key)\n\(admin)", store: "type: memory", grant: "refresh_token")
                ).replacing("  listen: 127.0.0.1:0", with: "  listen: \"\(stranger.address)\""))
            token = try directory.write("token", "fake-refresh-token")
        }

        func run(_ words: String...) throws -> (exit: Int32, errors: String) {
            let result = try Subprocess.run([BearerdProcess.binary] + words + ["-c", file])
            guard case .exited(let code) = result.ending else { throw WireError(result.errors) }
            return (code, result.errors)
        }
    }

    private func check(_ stranger: StrangerListener, _ site: Site) throws {
        for command in [["import", "--refresh-token", site.token], ["refresh"], ["revoke"], ["logout"]] {
            let result = try Subprocess.run([BearerdProcess.binary] + command + ["-c", site.file])
            #expect(result.ending == .exited(77), "\(command): \(result.errors)")
            #expect(result.errors.contains("uid 65534 (nobody)"), "\(result.errors)")
            #expect(result.errors.contains("admin.owner") && result.errors.split(separator: "\n").count == 1)
        }
    }

    @Test(arguments: [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]"), ("127.0.0.1", "localhost")])
    func `gets neither key nor session, and is named`(place: String, name: String) throws {
        let stranger = try StrangerListener(at: place, named: name)
        let site = try Site(stranger)
        try check(stranger, site)
        #expect(try !stranger.hear(4).contains("<P"), "\(stranger.heard)")
    }

    @Test func `gets nothing at a Unix socket either`() throws {
        let directory = try TemporaryDirectory()
        let stranger = try StrangerListener(at: directory.path("admin.sock"))
        try check(stranger, try Site(stranger))
        #expect(try !stranger.hear(4).contains("<P"), "\(stranger.heard)")
    }

    @Test func `does not pass for root by never accepting`() throws {
        let stranger = try StrangerListener(at: "127.0.0.1", accepting: false)
        let result = try Site(stranger).run("refresh")
        #expect(result.exit == 77 && result.errors.contains("nobody has accepted it"), "\(result.errors)")
    }

    @Test(arguments: ["nobody", "65534"]) func `is the daemon's user where admin.owner says so`(
        owner: String
    ) throws {
        let stranger = try StrangerListener(at: "127.0.0.1")
        let site = try Site(stranger, admin: "owner: \(owner)")
        #expect(try site.run("import", "--refresh-token", site.token).exit == 69)
        // It is asked who it is, and tells no status: nothing is handed to it.
        let heard = try stranger.hear(2)
        #expect(heard.contains("GET /api/status") && !heard.contains(site.token), "\(heard)")
    }

    @Test func `hears no key from who only reads`() throws {
        let stranger = try StrangerListener(at: "127.0.0.1")
        let site = try Site(stranger)
        #expect(try site.run("healthcheck").exit == 69, "no sign of life of the daemon's")
        _ = try site.run("status")
        let heard = try stranger.hear(2)
        #expect(heard.contains("GET /healthz") && heard.contains("GET /api/status"), "\(heard)")
        #expect(!heard.contains(Self.key), "\(heard)")
    }
}
