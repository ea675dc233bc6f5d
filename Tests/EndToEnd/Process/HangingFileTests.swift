// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// A file that does not answer, as on a network's file system whose server is away.
@Suite(.blocking) struct `A secret file that does not answer` {
    private final class Site: Sendable {
        let secret: String
        let directory: TemporaryDirectory
        let slow: HostileProvider
        let sidecar: Sidecar

        /// - Parameters:
        ///   - limit: `timeouts.token`.
        ///   - hasOtherFile: whether the identity `default` has a secret file of its own.
        init(waiting limit: String, hasOtherFile: Bool = false) throws {
            directory = try TemporaryDirectory()
            secret = try directory.write("secret", "not-a-real-secret\n")
            let other = try directory.write("other", "another-unreal-secret\n")
            slow = try HostileProvider()
            sidecar = try Sidecar(
                directory: directory, environment: Faults.environment(["FAULT_HANG": secret]),
                .init(
                    top: "timeouts: {token: \(limit)}",
                    identity: hasOtherFile ? "client_secret_file: \(other)" : "",
                    moreRoutes: "- {path: /slow, upstream: \"http://127.0.0.1:1\", identity: slow}",
                    moreIdentities: """
                        slow:
                          issuer: \(slow.issuer)
                          client_id: slow
                          client_secret_file: \(secret)
                          grant_type: client_credentials
                        """,
                    hasSecret: !hasOtherFile))
            try slow.request(1)
            try sidecar.awaitToken()
            try directory.write("secret.hang", "")
            try eventually("a look at the file that does not come back") {
                access(directory.path("secret.hanging"), F_OK) == 0
            }
        }

        /// Has it answer.
        func goOn() { #expect(unlink(directory.path("secret.hang")) == 0) }

        func reload() throws -> RawResponse {
            try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")])
        }

        func refresh(_ identity: String) throws -> RawResponse {
            try sidecar.admin("POST", "/api/identities/\(identity)/refresh", [("X-Bearerd-Admin", "1")])
        }
    }

    @Test func `holds up its own identity alone, until it answers`() throws {
        let site = try Site(waiting: "60s")
        let before = site.sidecar.provider.requests.count
        let stuck = Background { try site.refresh("slow").status }
        // Its identity's looks at the file, and its reading, hold up no renewal of another one.
        for count in 1...3 {
            #expect(try site.refresh("default").status == 200)
            #expect(site.sidecar.provider.requests.count == before + count)
        }
        #expect(site.slow.requests.count == 1)
        site.goOn()
        #expect(try stuck.value() == 200 && site.slow.requests.count == 2)
    }

    @Test func `is named once the time for a token is over, and another one is read meanwhile`() throws {
        let site = try Site(waiting: "1s", hasOtherFile: true)
        #expect(try site.refresh("slow").status != 200)
        try eventually("the file to be named") {
            try site.sidecar.admin("GET", "/api/status").text.contains(
                "\(site.secret) could not be read within 1 s")
        }
        try eventually("a token with the other file's secret") { try site.refresh("default").status == 200 }
        #expect(site.slow.requests.count == 1)
        site.goOn()
        try eventually("a token") { try site.refresh("slow").status == 200 }
        #expect(site.slow.requests.count == 2, "what was read late is sent by nobody")
    }

    @Test func `hides no change of another file`() throws {
        let site = try Site(waiting: "60s", hasOtherFile: true)
        for number in 1...2 {
            try site.directory.write("other", "another-unreal-secret-\(number)\n")
            try eventually("the change to be told") {
                site.sidecar.bearerd.logLines.count { $0.message == "credentials changed" } == number
            }
        }
        site.goOn()
    }

    @Test func `ends a reload that waits for it, and holds up none that does without it`() throws {
        let site = try Site(waiting: "60s")
        let stuck = try site.reload()
        #expect(stuck.status == 422 && stuck.text.contains("could not be read within 30 s"), "\(stuck.text)")
        try Sidecar.file(
            provider: site.sidecar.provider, upstream: site.sidecar.upstream.url,
            clientSecret: site.sidecar.clientSecret, directory: site.directory, .init())
        let reloaded = try site.reload()
        #expect(reloaded.status == 200, "\(reloaded.text)")
        #expect(try site.sidecar.admin("GET", "/api/status").text.contains("slow") == false)
        site.goOn()
    }

    @Test func `keeps its session from nobody else, however long a token may take`() throws {
        let directory = try TemporaryDirectory()
        let secret = try directory.write("secret", "not-a-real-secret\n")
        let provider = try HostileProvider()
        provider.setPolicy { $0.expiresIn = "5" }
        let sidecar = try Sidecar(
            provider: provider, directory: directory,
            environment: Faults.environment(["FAULT_HANG": secret]),
            .init(
                top: "timeouts: {token: 300s}", identity: "client_secret_file: \(secret)",
                grant: "authorization_code", hasSecret: false))
        try sidecar.importSession()
        try eventually("a token") { try sidecar.get().status == 200 }
        try directory.write("secret.hang", "")
        let before = provider.requests.count
        provider.setPolicy { $0.expiresIn = "300" }
        try eventually("the refresh") { try sidecar.state() == "refreshing" }
        // Another process, which waits for the lock that the refresh has.
        try sidecar.importSession()
        #expect(provider.requests.count == before)
        #expect(unlink(directory.path("secret.hang")) == 0)
        try eventually("a token") { try sidecar.get().status == 200 && provider.requests.count > before }
    }
}
