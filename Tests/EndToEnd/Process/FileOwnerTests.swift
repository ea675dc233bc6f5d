// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// Files that name commands, secrets or keys, and belong to another user, who can change them at any time.
@Suite(.blocking, .needs(.root)) struct `A file of another user` {
    private static let stranger: uid_t = 12345

    /// A configuration whose secret and authorities are in files.
    private struct Scene {
        let directory: TemporaryDirectory
        let provider: HostileProvider
        let file: String
        let secret: String
        let authorities: String

        init() throws {
            directory = try TemporaryDirectory()
            provider = try HostileProvider()
            let authority = try TLSAuthority()
            let pem = TemporaryDirectory.contents(of: authority.certificateFile)
            withExtendedLifetime(authority) {}
            authorities = try directory.write("ca.pem", String(decoding: pem, as: UTF8.self))
            secret = try directory.write("secret", "fake")
            file = try Sidecar.file(
                provider: provider, directory: directory,
                .init(
                    identity: "client_secret_file: \(secret)\nca_file: \(authorities)", hasSecret: false))
        }

        func check(_ environment: [String: String] = [:]) throws -> (exit: Int32, errors: String) {
            let result = try BearerdProcess.command("check", "-c", file, environment: environment)
            return (result.exit, result.output + result.errors)
        }
    }

    @Test(arguments: ["config.yaml", "secret", "ca.pem"])
    func `is an error for root, and a warning where that user has become root`(name: String) throws {
        let scene = try Scene()
        #expect(try scene.check().exit == 0)
        chown(scene.directory.path(name), Self.stranger, 0)
        for environment in [[:], ["SUDO_UID": "\(Self.stranger + 1)"]] {
            let refused = try scene.check(environment)
            #expect(refused.exit == 78, "\(refused)")
            #expect(refused.errors.contains("belongs to user \(Self.stranger)"), "\(refused)")
        }
        let warned = try scene.check(["SUDO_UID": "\(Self.stranger)"])
        #expect(warned.exit == 0 && warned.errors.contains("warning"), "\(warned)")
        #expect(warned.errors.contains("belongs to user \(Self.stranger)"), "\(warned)")
    }

    @Test(.enabled(if: Stranger.launcher != nil, "root can be another user"))
    func `is a warning for who is not root`() throws {
        let scene = try Scene()
        chmod(scene.directory.path, 0o755)
        for path in [scene.file, scene.secret, scene.authorities] {
            chown(path, Self.stranger, 0)
            chmod(path, 0o644)
        }
        let result = try Subprocess.run(
            (Stranger.launcher ?? []) + [BearerdProcess.binary, "check", "-c", scene.file])
        #expect(result.ending == .exited(0), "\(result)")
        let said = (result.output + result.errors).split(separator: "\n")
        #expect(said.count { $0.contains("belongs to user \(Self.stranger)") } >= 3, "\(said)")
    }

    @Test func `is not taken over by a reload`() throws {
        let sidecar = try Sidecar()
        try sidecar.awaitToken()
        chown(sidecar.directory.path("config.yaml"), Self.stranger, 0)
        let reload = try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")])
        #expect(reload.status == 422 && reload.text.contains("belongs to user"), "\(reload.text)")
        #expect(try sidecar.get().status == 200)
    }

    @Test func `is not read when a secret has changed`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("secret", "fake")
        let sidecar = try Sidecar(
            directory: directory, .init(identity: "client_secret_file: \(file)", hasSecret: false))
        try sidecar.awaitToken()
        try directory.write("other", "another")
        chown(directory.path("other"), Self.stranger, 0)
        rename(directory.path("other"), file)
        _ = try sidecar.act("refresh")
        try eventually("the owner to be told") {
            try sidecar.lastErrorDetail().contains("belongs to user \(Self.stranger)")
        }
        #expect(!sidecar.provider.requests.contains { "\($0)".contains("another") })
    }
}
