// SPDX-License-Identifier: Apache-2.0
//
// Logs somebody in and calls an API as them, again and again; the second run needs no login. Where the session has died
// meanwhile it offers another login.
//
//     bearerd run -c config.yaml &          # the development provider and API of the repository's root
//     swift run --package-path Examples WhoAmI http://127.0.0.1:8081 demo-public http://127.0.0.1:8082/whoami

import Foundation
import FoundationNetworking
import OAuthFoundation
import OAuthRuntime

func tell(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }

guard CommandLine.arguments.count == 4, let api = URL(string: CommandLine.arguments[3]) else {
    tell("usage: WhoAmI ISSUER CLIENT_ID API_URL")
    exit(64)
}

/// Asks the API; a 401 is followed by one refresh.
func whoAmI(_ session: AuthSession) async throws -> String {
    let (body, response) = try await session.data(for: URLRequest(url: api))
    // The refresh told that the session has died, and so the 401 goes through.
    if response.statusCode == 401, await session.needsLogin { throw TokenError.loginRequired }
    return String(decoding: body, as: UTF8.self)
}

func run() async throws {
    var client = ClientConfiguration(
        name: "default", clientID: CommandLine.arguments[2], grantType: .authorizationCode)
    client.issuer = CommandLine.arguments[1]
    client.scope = [Scope.openID, Scope.profile, Scope.offlineAccess]

    let home = ProcessInfo.processInfo.environment["HOME"] ?? "."
    let runtime = try AuthRuntime(storage: .directory("\(home)/.whoami"))
    let session = try runtime.session(for: client)
    await session.start()
    for _ in 1...3 {
        do {
            print(try await whoAmI(session))
        } catch TokenError.loginRequired {
            // Nobody has logged in yet; or the provider has ended the session: somebody disabled it, its refresh token was
            // too old.
            try await runtime.logIn(session) { url in tell("Visit \(url)") }
            print(try await whoAmI(session))
        }
    }
    await session.stop()
}

do {
    try await run()
} catch {
    tell("WhoAmI: \(error)")
    exit(1)
}
