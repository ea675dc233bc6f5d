// SPDX-License-Identifier: Apache-2.0

import TestSupport
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
            "userinfo_headers: {Authorization: x}",
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
