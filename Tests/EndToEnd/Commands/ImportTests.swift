// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// `bearerd import`.
@Suite(.blocking) struct `Importing a session` {
    private let provider: HostileProvider
    private let directory: TemporaryDirectory
    private let configuration: String

    init() throws {
        provider = try HostileProvider()
        directory = try TemporaryDirectory()
        configuration = try Sidecar.file(
            provider: provider, clientSecret: "secret-" + randomText(), directory: directory,
            .init(grant: "refresh_token"))
    }

    private func importing(
        _ option: String, _ text: String
    ) throws -> (exit: Int32, output: String, errors: String) {
        let file = try directory.write("session", text)
        return try BearerdProcess.command("import", option, file, "-c", configuration)
    }

    private func android(_ token: String, clientID: String = "legacy-app", issuer: String? = nil) -> String {
        """
        {"refreshToken":"\(token)","scope":"openid","config":{"discoveryDoc":{"issuer":"\(issuer ?? provider.issuer)"}},
        "mLastTokenResponse":{"request":{"clientId":"\(clientID)"},"access_token":"stale","expires_at":4102444800000}}
        """
    }

    @Test(arguments: ["--refresh-token", "--gtm-oauth2", "--appauth-android"])
    func `what was imported is refreshed before it is used, and importing it again changes nothing`(
        option: String
    )
        throws
    {
        let token = provider.makeRefreshToken()
        let text =
            switch option {
            case "--refresh-token": token + "\n"
            case "--gtm-oauth2":
                "access_token=stale&refresh_token=\(token)&scope=openid&userEmail=bob%40example.test&userEmailIsVerified=1"
            default: android(token)
            }
        let first = try importing(option, text)
        #expect(first.exit == 0 && first.output.contains("imported"), "\(first.errors)")
        let again = try importing(option, text)
        #expect(again.exit == 0 && again.output.contains("unchanged"))
        #expect(
            LeakScan.leaks(of: provider.handedOut, in: first.output + first.errors + again.output).isEmpty)

        let fresh = try BearerdProcess.command("token", "-c", configuration)
        #expect(fresh.output == (provider.accessTokens.last ?? "") + "\n", "\(fresh.errors)")
        #expect(provider.requests.count == 1 && provider.requests[0]["refresh_token"] == token)

        // The token has been rotated: to use it once more would be reuse.
        let late = try importing(option, text)
        #expect(late.output.contains("unchanged") && !late.errors.contains("replaces"), "\(late.errors)")
        #expect(try BearerdProcess.command("refresh", "-c", configuration).exit == 0)
    }

    @Test func `a token that is spent does not cost the session that has taken its place`() throws {
        let (one, two) = (provider.makeRefreshToken(), provider.makeRefreshToken())
        func refreshed() throws -> Bool {
            try BearerdProcess.command("refresh", "-c", configuration).exit == 0
        }
        #expect(try importing("--refresh-token", one).exit == 0)
        #expect(try refreshed(), "the provider has replaced it")
        #expect(try importing("--refresh-token", two).exit == 0)
        #expect(try refreshed())
        let again = try importing("--refresh-token", one)
        #expect(
            again.exit == 65 && again.output.isEmpty && again.errors.contains("log out first"), "\(again)")
        #expect(!again.errors.contains("replaces"), "\(again)")
        #expect(try refreshed(), "the session is whole")
        #expect(try BearerdProcess.command("logout", "--local", "-c", configuration).exit == 0)
        #expect(try importing("--refresh-token", one).output.contains("imported"), "it counts as new")
    }

    @Test func `a running daemon uses what was imported`() throws {
        let upstream = try RawUpstream()
        let sidecar = try Sidecar(provider: provider, upstream: upstream, .init(grant: "refresh_token"))
        #expect(try sidecar.get().status == 503)
        let file = try sidecar.directory.write("session", android(provider.makeRefreshToken()))
        let result = try BearerdProcess.command(
            "import", "--appauth-android", file, "-c", sidecar.directory.path("config.yaml"))
        #expect(result.exit == 0, "\(result.errors)")
        try eventually("a token") { try sidecar.get().status == 200 }
    }

    @Test(arguments: ["--refresh-token", "--gtm-oauth2", "--appauth-android", "--appauth-archive"])
    func `rubbish is 65, in one line, and changes nothing`(option: String) throws {
        // On one line of printable characters anything may be a refresh token.
        let lines =
            option == "--refresh-token" ? [] : [#"{"refreshToken":null}"#, "access_token=x", "bplist00"]
        for text in ["", "\u{0}\u{1}", "two\nlines"] + lines {
            let result = try importing(option, text)
            #expect(result.exit == 65 && result.output.isEmpty, "\(text)")
            #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
        }
        #expect(try BearerdProcess.command("token", "-c", configuration).exit == 77)
    }

    @Test func `the session of another client or issuer is 65`() throws {
        for text in [android("r", clientID: "other"), android("r", issuer: "https://elsewhere.test")] {
            let result = try importing("--appauth-android", text)
            #expect(result.exit == 65 && result.errors.contains("another"), "\(result.errors)")
        }
        #expect(try importing("--appauth-android", android("r", issuer: provider.issuer + "/")).exit == 0)
    }

    @Test func `the session of another client stays that client's where one asks for it`() throws {
        func keeping(
            _ option: String, _ text: String
        ) throws -> (exit: Int32, output: String, errors: String) {
            let file = try directory.write("session", text)
            return try BearerdProcess.command(
                "import", option, file, "--keep-client", "-c", configuration)
        }
        let refused = try importing("--appauth-android", android("r", clientID: "other"))
        #expect(refused.exit == 65 && refused.errors.contains("--keep-client"), "\(refused.errors)")
        let unsaid = try keeping("--refresh-token", "r\n")
        #expect(unsaid.exit == 65 && unsaid.errors.contains("does not tell its client_id"))
        let astray = try keeping("--appauth-android", android("r", issuer: "https://elsewhere.test"))
        #expect(astray.exit == 65, "its issuer counts all the same")

        let text = android(provider.makeRefreshToken(), clientID: "other")
        let taken = try keeping("--appauth-android", text)
        #expect(taken.exit == 0 && taken.output == "default: imported\n")
        #expect(taken.errors.contains("until the next login"), "\(taken.errors)")
        #expect(try keeping("--appauth-android", text).output.contains("unchanged"))
        #expect(try BearerdProcess.command("token", "-c", configuration).exit == 0)
        #expect(try BearerdProcess.command("refresh", "-c", configuration).exit == 0)
        #expect(provider.requests.count == 2)
        for request in provider.requests {
            #expect(request["client_id"] == "other" && request["client_secret"] == nil)
            #expect(request.message["Authorization"] == nil, "our secret is not that client's")
        }

        #expect(try importing("--appauth-android", android(provider.makeRefreshToken())).exit == 0)
        #expect(try BearerdProcess.command("token", "-c", configuration).exit == 0)
        #expect(provider.requests.last?.basicCredentials?.name == "legacy-app")
    }

    @Test func `a token that the provider has replaced since it was imported is 65`() throws {
        let token = provider.makeRefreshToken()
        #expect(try importing("--refresh-token", token).exit == 0)
        #expect(try BearerdProcess.command("refresh", "-c", configuration).exit == 0)
        #expect(try importing("--refresh-token", provider.makeRefreshToken()).exit == 0)
        let again = try importing("--refresh-token", token)
        #expect(again.exit == 65 && again.errors.contains("imported before"), "\(again)")
    }

    @Test func `a missing file is 66, none or two of them are 64`() throws {
        let missing = directory.path("missing")
        let result = try BearerdProcess.command("import", "--gtm-oauth2", missing, "-c", configuration)
        #expect(result.exit == 66 && result.errors.contains(missing))
        #expect(try BearerdProcess.command("import", "-c", configuration).exit == 64)
        let two = try BearerdProcess.command(
            "import", "--gtm-oauth2", missing, "--refresh-token", missing, "-c", configuration)
        #expect(two.exit == 64 && two.errors.contains("one file at a time"))
    }
}
