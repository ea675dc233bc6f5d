// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// `bearerd revoke` (RFC 7009).
@Suite(.blocking) struct `Revoking` {
    private func begun(without missing: [String] = []) throws -> ImportedSession {
        let session = try ImportedSession(without: missing)
        try session.begin()
        #expect(try session.command("token").exit == 0)
        return session
    }

    @Test func `both tokens are revoked with the client's proof, and forgotten`() throws {
        let session = try begun()
        let result = try session.command("revoke")
        #expect(result.exit == 0, "\(result.errors)")
        let asked = session.provider.requests("POST", "/revocation")
        #expect(
            asked.map { $0["token"] } == [
                session.provider.latestRefreshToken, session.provider.accessTokens.last,
            ])
        #expect(asked.map { $0["token_type_hint"] } == ["refresh_token", "access_token"])
        #expect(asked.allSatisfy { $0.basicCredentials?.name == "legacy-app" })
        #expect(try session.command("token").exit == 77)
        let again = try session.command("revoke")
        #expect(again.exit == 0 && again.output.contains("nothing"))
        #expect(session.provider.requests("POST", "/revocation").count == 2)
        #expect(LeakScan.leaks(of: session.secrets, in: result.output + result.errors).isEmpty)
    }

    @Test func `a revoked access token is replaced, a revoked refresh token takes it along`() throws {
        let session = try begun()
        let old = session.provider.accessTokens.last
        #expect(try session.command("revoke", "--token", "access").exit == 0)
        #expect(session.provider.requests("POST", "/revocation").map { $0["token"] } == [old])
        #expect(try session.command("token").output == (session.provider.accessTokens.last ?? "") + "\n")
        #expect(session.provider.accessTokens.last != old)
        #expect(try session.command("revoke", "--token=refresh").exit == 0)
        #expect(session.provider.requests("POST", "/revocation").count == 2)
        #expect(try session.command("token").exit == 77)
    }

    @Test(arguments: [Reply.json(#"{"error":"invalid_token"}"#), .ok("<html>")])
    func `every 200 is success`(reply: Reply) throws {
        let session = try begun()
        session.provider.serve("POST", "/revocation") { _ in reply }
        #expect(try session.command("revoke").exit == 0)
        #expect(try session.command("token").exit == 77)
    }

    @Test(arguments: [
        Reply.response(503), .oauthError("invalid_client", status: 401), .close, .response(302),
    ])
    func `a provider that does not revoke is 69, and nothing changes`(reply: Reply) throws {
        let session = try begun()
        session.provider.serve("POST", "/revocation") { _ in reply }
        let result = try session.command("revoke")
        #expect(result.exit == 69 && result.output.isEmpty)
        #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
        #expect(try session.command("token").exit == 0)
        #expect(session.provider.accessTokens.count == 1, "the token is the one before")
    }

    @Test func `an access token that cannot be revoked goes with its refresh token`() throws {
        let session = try begun()
        session.provider.serve("POST", "/revocation") { request in
            request.text.contains("access_token") ? .oauthError("unsupported_token_type") : .response(200)
        }
        #expect(try session.command("revoke").exit == 0)
        #expect(try session.command("token").exit == 77)
    }

    @Test func `an access token that cannot be revoked, and has no refresh token, is not said to be`() throws
    {
        let provider = try HostileProvider()
        provider.discovery { _, provider in
            provider.discoveryDocument(members: #","revocation_endpoint":"\#(provider.issuer)/revocation""#)
        }
        provider.serve("POST", "/revocation") { _ in .oauthError("unsupported_token_type") }
        let sidecar = try Sidecar(provider: provider)
        try sidecar.awaitToken()
        let result = try BearerdProcess.command("revoke", "-c", sidecar.directory.path("config.yaml"))
        #expect(result.exit == 69 && result.errors.contains("unsupported_token_type"), "\(result)")
    }

    @Test func `no such endpoint is 69, another word than access or refresh 64`() throws {
        let session = try begun(without: ["revocation"])
        let result = try session.command("revoke")
        #expect(result.exit == 69 && result.errors.contains("revocation_endpoint"), "\(result.errors)")
        #expect(try session.command("revoke", "--token", "id").exit == 64)
    }

    @Test func `a running daemon stops using the token, and gets another if it can`() throws {
        let upstream = try RawUpstream()
        let provider = try HostileProvider()
        provider.setPolicy { $0.givesRefreshTokens = true }
        provider.discovery { _, provider in
            provider.discoveryDocument(members: #","revocation_endpoint":"\#(provider.issuer)/revocation""#)
        }
        provider.serve("POST", "/revocation") { _ in .response(200) }
        let sidecar = try Sidecar(provider: provider, upstream: upstream)
        #expect(try sidecar.get().status == 200)
        let old = upstream.tokens.last
        let result = try BearerdProcess.command("revoke", "-c", sidecar.directory.path("config.yaml"))
        #expect(result.exit == 0, "\(result.errors)")
        try eventually("another token") {
            try sidecar.get().status == 200 && upstream.tokens.last != old
        }
    }
}
