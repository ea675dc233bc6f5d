// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// What is said to a provider, and by it, beyond the protocol.
@Suite(.blocking) struct `Additional parameters` {
    @Test func `of token answers are in the status, with a daemon and without, unless they may be secret`()
        throws
    {
        let provider = try HostileProvider()
        let secret = "fake-device-secret-" + randomText()
        provider.always { _, provider in
            provider.tokens(
                members: #","instance_url":"https://i.example","device_secret":"\#(secret)","issued":17"#)
        }
        let sidecar = try Sidecar(provider: provider)
        try sidecar.awaitToken()
        let status = try sidecar.identityStatus()
        #expect(status["additional"]["instance_url"].string == "https://i.example")
        #expect(status["additional"]["issued"].number == 17)
        let with = try BearerdProcess.command("status", "--json", "-c", sidecar.directory.path("config.yaml"))
        #expect(try sidecar.bearerd.terminate() == .exited(0))
        let without = try BearerdProcess.command(
            "status", "--json", "-c", sidecar.directory.path("config.yaml"))
        for result in [with, without] {
            #expect(result.output.contains(#""instance_url":"https://i.example""#), "\(result.output)")
            let told = result.output + result.errors + sidecar.bearerd.log
            #expect(LeakScan.leaks(of: [secret] + provider.handedOut, in: told).isEmpty)
        }
    }

    @Test func `of a client that was made are shown, but for those that manage it`() throws {
        let provider = try HostileProvider()
        let secret = "fake-registration-" + randomText()
        provider.discovery { _, provider in
            provider.discoveryDocument(members: #","registration_endpoint":"\#(provider.issuer)/register""#)
        }
        provider.serve("POST", "/register") { _ in
            .json(
                #"{"client_id":"made-1","client_id_issued_at":17,"registration_access_token":"\#(secret)","#
                    + #""registration_client_uri":"https://sso.example/made-1?key=\#(secret)"}"#,
                status: 201)
        }
        let sidecar = try Sidecar(
            provider: provider,
            .init(identity: "scope: [api, read]\nscope_on_refresh: true", grant: "authorization_code"))
        let file = sidecar.directory.path("config.yaml")
        try sidecar.importSession()
        try eventually("a token") { try sidecar.get().status == 200 }
        #expect(provider.requests.last?["scope"] == "api read")
        let text = String(decoding: TemporaryDirectory.contents(of: file), as: UTF8.self)
        let unregistered = try sidecar.directory.write(
            "made.yaml",
            text.replacing(#/ +client_id: .*\n/#, with: "").replacing(#/ +client_secret: .*\n/#, with: "")
                .replacing(sidecar.storeDirectory, with: sidecar.directory.path("made")))
        let made = try BearerdProcess.command("register", "-c", unregistered)
        #expect(made.exit == 0, "\(made.errors)")
        let status = try BearerdProcess.command("status", "--json", "-c", unregistered)
        #expect(status.output.contains(#""additional":{"client_id_issued_at":17}"#), "\(status.output)")
        #expect(LeakScan.leaks(of: [secret], in: status.output + made.output + made.errors).isEmpty)
    }

    @Test func `of the configuration go along with what ends a session`() throws {
        let provider = try HostileProvider()
        provider.discovery { _, provider in
            let members = ["revocation", "end_session"].map {
                #","\#($0)_endpoint":"\#(provider.issuer)/\#($0)""#
            }
            return provider.discoveryDocument(members: members.joined())
        }
        for path in ["/revocation", "/end_session"] { provider.serve("POST", path) { _ in .response(200) } }
        let sidecar = try Sidecar(
            provider: provider,
            .init(
                identity: """
                    post_logout_redirect_uri: com.example.app:/bye
                    end_session_params: {logout_hint: alice}
                    revocation_params: {tenant: blue}
                    """, grant: "refresh_token"))
        try sidecar.importSession()
        try eventually("a token") { try sidecar.get().status == 200 }
        let result = try BearerdProcess.command(
            "logout", "--no-browser", "-c", sidecar.directory.path("config.yaml"))
        #expect(result.exit == 0, "\(result.errors)")
        let revoked = provider.requests("POST", "/revocation")
        #expect(!revoked.isEmpty && revoked.allSatisfy { $0["tenant"] == "blue" })
        let ended = try #require(provider.requests("POST", "/end_session").first)
        #expect(ended["post_logout_redirect_uri"] == "com.example.app:/bye")
        #expect(ended["logout_hint"] == "alice" && ended["state"]?.isEmpty == false)
        let state = try #require(ended["state"])
        #expect(result.output.contains("post_logout_redirect_uri=com.example.app%3A%2Fbye&state=\(state)"))
    }

    @Test func `of a name that the protocol has are refused`() throws {
        let directory = try TemporaryDirectory()
        let keys = [
            "end_session_params: {id_token_hint: x}", "revocation_params: {token: x}",
            "device_authorization_params: {client_id: x}", "registration_params: {client_secret: x}",
            "userinfo_headers: {Authorization: x}", "userinfo_headers: {DPoP: x}",
            "token_headers: {dpop: x}",
        ]
        for key in keys {
            let file = try directory.write(
                "config.yaml",
                """
                identities:
                  default:
                    issuer: https://sso.example.com
                    client_id: app
                    \(key)
                routes: [{path: /, upstream: "https://api.example.com", identity: default}]
                """)
            let result = try BearerdProcess.command("check", "-c", file)
            #expect(result.exit == 78 && result.errors.contains("clashes"), "\(key): \(result.errors)")
        }
    }
}
