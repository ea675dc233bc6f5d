// SPDX-License-Identifier: Apache-2.0
//
// Logs somebody in on another device (RFC 8628): for a machine without a browser.
//
//     swift run --package-path Examples DeviceLogin https://sso.example.com my-program

import OAuthRuntime
import Program

await run("DeviceLogin", "ISSUER", "CLIENT_ID") { words in
    var client = ClientConfiguration(name: "default", clientID: words[1], grantType: .deviceCode)
    client.issuer = words[0]
    client.scope = [Scope.openID, Scope.profile, Scope.offlineAccess]
    let runtime = try AuthRuntime(storage: .memory)
    let session = try runtime.session(for: client)
    await session.start()

    let device = try await session.authorizeDevice()
    say("Visit \(device.verificationURI) and type \(device.userCode)")
    // Asks as often as the server allows, and gives up when the code expires; cancelling the task ends it sooner.
    let login = try await session.logIn(with: device)
    say("logged in: \(login.personName ?? "somebody"), token type: \(await session.tokenType ?? "none")")
    await session.stop()
}
