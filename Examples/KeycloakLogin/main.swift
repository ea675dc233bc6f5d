// SPDX-License-Identifier: Apache-2.0
//
// What a Keycloak tutorial for AppAuth does: discovery, a login in the browser, fresh tokens, userinfo, and a logout
// that ends the session at Keycloak too.
//
//     swift run --package-path Examples KeycloakLogin https://sso.example.com/realms/demo my-program

import OAuthRuntime
import Program

await run("KeycloakLogin", "ISSUER", "CLIENT_ID") { words in
    // A realm needs no more than its address; the preset asks for a refresh token that outlives the browser.
    var client = ClientConfiguration(
        .keycloak, name: "default", clientID: words[1], issuer: words[0],
        scope: [Scope.openID, Scope.profile, Scope.email])
    // Registered with the realm as "Valid post logout redirect URI".
    client.postLogoutRedirectURI = "http://127.0.0.1/"

    let runtime = try AuthRuntime(storage: .memory)
    let service = try await ServiceConfiguration.discover(for: client, over: try runtime.transport())
    say("logging in at \(service.issuer)")

    let session = try runtime.session(for: client)
    await session.start()
    let login = try await runtime.logIn(session) { url in say("Visit \(url)") }
    say("logged in: \(login.personName ?? "somebody")")

    try await session.withFreshTokens { tokens in
        // `tokens.accessToken` is what an API is shown; the id token has been judged already.
        let idToken = tokens.idToken.flatMap { IDToken($0) }
        say("subject: \(idToken?.subject ?? "unknown"), groups: \(idToken?.strings("groups") ?? [])")
    }
    say("userinfo: \(try await session.userinfo().json)")

    // Forgets the session here, revokes its tokens, and asks Keycloak to end its own.
    let outcome = await session.logOut()
    say("revocation: \(outcome.revocation.rawValue), end of session: \(outcome.endSession.rawValue)")
    // Most providers tie their session to the browser's cookie, so the browser goes there too.
    if let request = outcome.request { say("Log out \(request.url)") }
    await session.stop()
}
