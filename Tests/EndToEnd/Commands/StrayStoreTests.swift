// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// A person, or root at a shell, whose sessions would by default be elsewhere than those of the daemon, a service.
@Suite(.blocking) struct `A command whose usual place is not the daemon's` {
    private let directory: TemporaryDirectory
    private let provider: HostileProvider
    private let bearerd: BearerdProcess

    init() throws {
        directory = try TemporaryDirectory()
        provider = try HostileProvider()
        try directory.write("refresh_token", "fake-refresh-token\n")
        for name in ["service", "person"] { mkdir(directory.path(name), 0o700) }
        bearerd = try BearerdProcess(
            configuration: """
                listen: 127.0.0.1:0
                admin: {listen: "unix:\(directory.path("admin"))"}
                identities:
                  default:
                    token_endpoint: \(provider.tokenEndpoint)
                    client_id: legacy
                    client_secret: fake-secret
                    grant_type: refresh_token
                routes:
                  - {path: /, upstream: "http://127.0.0.1:1", identity: default}
                """, in: directory, environment: ["STATE_DIRECTORY": directory.path("service")])
    }

    private func run(
        _ words: String..., place: String
    ) throws -> (
        exit: Int32, output: String, errors: String
    ) {
        try BearerdProcess.command(
            words + ["-c", directory.path("config.yaml")],
            environment: ["STATE_DIRECTORY": directory.path(place)])
    }

    private func sessions(in place: String) -> [String] {
        TemporaryDirectory.entries(of: directory.path(place)).filter { $0.hasSuffix(".session") }
    }

    @Test func `stores nothing beside the daemon, which does it`() throws {
        let result = try run(
            "import", "--refresh-token", directory.path("refresh_token"), place: "person")
        #expect(result.exit == 0, "\(result)")
        #expect(sessions(in: "person") == [] && sessions(in: "service") == ["default.session"])

        let token = try run("token", place: "person")
        #expect(token.exit == 77 && token.output.isEmpty)
        #expect(
            token.errors.contains("keeps its sessions in \(directory.path("service")), and not in "),
            "\(token.errors)")
        let doctor = try run("doctor", "--check", "store", place: "person")
        #expect(
            doctor.output.contains("skip")
                && doctor.output.contains("STATE_DIRECTORY=\(directory.path("service"))"),
            "\(doctor)")
    }
}
