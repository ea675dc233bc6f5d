// SPDX-License-Identifier: Apache-2.0
//
// What a client made by hand does: endpoints written down, a redirect that nobody listens at, and a person who pastes
// what the browser shows in its address bar.
//
//     swift run --package-path Examples PastedCode https://sso.example.com/authorize https://sso.example.com/token my-program

import OAuthRuntime
import Program

await run("PastedCode", "AUTHORIZATION_ENDPOINT", "TOKEN_ENDPOINT", "CLIENT_ID") { words in
    guard
        let client = ClientConfiguration(
            name: "default", clientID: words[2], authorizationEndpoint: words[0], tokenEndpoint: words[1])
    else {
        return say("an endpoint is no http or https URL")
    }
    let runtime = try AuthRuntime(storage: .memory)
    let session = try runtime.session(for: client)
    await session.start()

    let flow = try await session.authorizationFlow(redirectURI: "http://127.0.0.1:9/callback")
    say("Visit \(flow.url)")
    say("Paste the address that the browser ends at:")
    while let line = readLine() {
        do {
            let login = try await session.logIn(with: try flow.response(to: line))
            say("logged in, to be refreshed: \(login.hasRefreshToken)")
            break
        } catch let error as AuthorizationResponseError where !flow.isEnded {
            // Somebody else's answer, or half of an address: the flow waits for the right one.
            say("this is not it: \(error.sentence)")
        }
    }
    say("authorized: \(await session.isAuthorized)")
    await session.stop()
}
