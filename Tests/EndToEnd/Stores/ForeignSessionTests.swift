// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Two configurations that name one store and one identity, but not the same client.
@Suite(.blocking) struct `Another client's session in the store` {
    private let provider: HostileProvider
    private let directory: TemporaryDirectory

    init() throws {
        provider = try HostileProvider()
        directory = try TemporaryDirectory()
    }

    private func file(_ client: String, grant: String = "refresh_token") throws -> String {
        try directory.write(
            "\(client).yaml",
            Sidecar.configuration(
                provider: provider, upstream: "http://127.0.0.1:1", clientSecret: "s", directory: directory,
                .init(grant: grant)
            ).replacing("client_id: legacy-app", with: "client_id: \(client)"))
    }

    private func importing(
        by file: String
    ) throws -> (exit: Int32, output: String, errors: String) {
        let token = try directory.write("token", provider.makeRefreshToken())
        return try BearerdProcess.command("import", "--refresh-token", token, "-c", file)
    }

    private func status(_ bearerd: BearerdProcess) throws -> TestJSON {
        try RawClient(to: bearerd.admin).request("GET", "/api/status").json["identities"][0]
    }

    private func refreshes(by client: String) -> Int {
        provider.requests.count { $0.basicCredentials?.name == client }
    }

    @Test
    func `is neither replaced nor erased by a daemon or a logout, and by a person's import, who is warned`()
        throws
    {
        let (one, two) = (try file("one"), try file("two"))
        let first = try BearerdProcess(arguments: ["run", "-c", one])
        #expect(try importing(by: one).exit == 0)
        try eventually("the first one's token") { try status(first)["state"].string == "authorized" }

        let second = try BearerdProcess(arguments: ["run", "-c", two])
        try eventually("the error") { try status(second)["last_error"]["code"].string == "other_client" }
        let detail = try status(second)["last_error"]["detail"].string ?? ""
        for client in ["one", "two"] {
            #expect(detail.contains("\(provider.issuer) \(client)'"), "\(detail)")
        }
        #expect(try status(second)["state"].string == "login_required")
        let refused = try BearerdProcess.command("logout", "-c", two)
        #expect(refused.exit == 74 && refused.errors.contains("\(provider.issuer) one'"), "\(refused)")
        #expect(try BearerdProcess.command("refresh", "-c", one).exit == 0, "the session is whole")

        let taken = try importing(by: two)
        #expect(taken.exit == 0 && taken.errors.contains("\(provider.issuer) one'"), "\(taken)")
        try eventually("the second one's token") { try status(second)["state"].string == "authorized" }
        try eventually("the first one to see it") {
            try status(first)["last_error"]["code"].string == "other_client"
        }
        let asked = refreshes(by: "one")
        _ = try RawClient(to: first.admin).request(
            "POST", "/api/identities/default/refresh", [("X-Bearerd-Admin", "1")])
        #expect(refreshes(by: "one") == asked, "its refresh token is nobody's to send")
        #expect(try BearerdProcess.command("logout", "--local", "-c", one).exit == 74)
        #expect(try BearerdProcess.command("refresh", "-c", two).exit == 0, "the session is whole")
        try eventually("the second one's next token") { try status(second)["state"].string == "authorized" }
    }

    @Test func `is not replaced by tokens that need no person, which are used all the same`() throws {
        let (one, two) = (try file("one"), try file("two", grant: "client_credentials"))
        #expect(try importing(by: one).exit == 0)
        let daemon = try BearerdProcess(arguments: ["run", "-c", two])
        try eventually("a token") { try status(daemon)["state"].string == "authorized" }
        try daemon.logLine("the warning") {
            $0.message == "another configuration's session is in the store"
        }
        let answer = try RawClient(to: daemon.admin).request(
            "POST", "/api/identities/default/refresh", [("X-Bearerd-Admin", "1")])
        #expect(answer.status == 200, "\(answer.text)")
        #expect(refreshes(by: "two") == 2)
        #expect(try BearerdProcess.command("refresh", "-c", one).exit == 0, "the session is whole")
        #expect(try daemon.terminate() == .exited(0), "nothing is lost with its own token")
    }

    @Test func `gives way where it has access tokens alone, which anybody can have again`() throws {
        let (one, two) = (
            try file("one", grant: "client_credentials"), try file("two", grant: "client_credentials")
        )
        #expect(try BearerdProcess.command("token", "-c", one).exit == 0)
        #expect(try BearerdProcess.command("token", "-c", two).exit == 0)
        #expect(try BearerdProcess.command("token", "-c", two).exit == 0)
        #expect(refreshes(by: "two") == 1, "it is stored")
    }
}
