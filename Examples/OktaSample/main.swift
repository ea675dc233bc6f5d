// SPDX-License-Identifier: Apache-2.0
//
// What Okta's sample for AppAuth has buttons for: log in, userinfo, refresh, revoke.
//
//     swift run --package-path Examples OktaSample https://example.okta.com/oauth2/default 0oa1example

import OAuthRuntime
import Program

await run("OktaSample", "ISSUER", "CLIENT_ID") { words in
    let client = ClientConfiguration(
        .okta, name: "default", clientID: words[1], issuer: words[0], scope: [Scope.openID, Scope.profile])
    let runtime = try AuthRuntime(storage: .memory)
    let session = try runtime.session(for: client)
    await session.start()
    try await runtime.logIn(session) { url in say("Visit \(url)") }

    // Call userinfo.
    let userinfo = try await session.userinfo()
    say("userinfo: \(userinfo["name"] ?? userinfo.subject)")

    // Refresh the token.
    let before = try await session.withFreshTokens { $0.accessToken }
    try await session.refresh(waitingAtMost: .seconds(10))
    let after = try await session.withFreshTokens { $0.accessToken }
    say("refreshed: \(before == after ? "the same token" : "another token")")

    // Revoke the access token: the session goes on, with a new one.
    let revoked = try await session.revoke([.accessToken])
    say("revoked: \(revoked.map(\.rawValue)), authorized: \(await session.isAuthorized)")
    _ = try await session.userinfo()

    // Revoke the refresh token too: somebody must log in again.
    _ = try await session.revoke([.refreshToken, .accessToken])
    say("needs login: \(await session.needsLogin)")
    await session.stop()
}
