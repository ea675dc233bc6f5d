// SPDX-License-Identifier: Apache-2.0
//
// Logs somebody in and calls an API as them, again and again; the second run needs no login.
//
//     bearerd run -c config.yaml &          # the development provider and API of the repository's root
//     swift run WhoAmI http://127.0.0.1:8081 demo-public http://127.0.0.1:8082/whoami

import Foundation
import FoundationNetworking
import OAuth
import OAuthRuntime

guard CommandLine.arguments.count == 4, let api = URL(string: CommandLine.arguments[3]) else {
    print("usage: WhoAmI ISSUER CLIENT_ID API_URL")
    exit(64)
}

var client = ClientConfiguration(
    name: "default", clientID: CommandLine.arguments[2], grantType: .authorizationCode)
client.issuer = CommandLine.arguments[1]
client.scope = ["openid", "profile", "offline_access"]

let home = ProcessInfo.processInfo.environment["HOME"] ?? "."
let runtime = try AuthRuntime(storage: .directory("\(home)/.whoami"))
let session = try runtime.session(for: client)
await session.start()

func logIn() async throws {
    try await runtime.logIn(session) { url in
        FileHandle.standardError.write(Data("Visit \(url)\n".utf8))
    }
}

/// Asks the API; a 401 is followed by one refresh.
func whoAmI() async throws -> String {
    let answer = try await session.authorized(api.absoluteString) { credentials in
        var request = URLRequest(url: api)
        request.setValue(credentials.value, forHTTPHeaderField: credentials.name)
        let (body, response) = try await URLSession.shared.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        return ResourceAnswer(status: status, value: String(decoding: body, as: UTF8.self))
    }
    return answer.value
}

if await session.needsLogin { try await logIn() }
for _ in 1...3 {
    do {
        print(try await whoAmI())
    } catch TokenError.loginRequired {
        // The provider has ended the session: somebody disabled it, or its refresh token was too old.
        try await logIn()
        print(try await whoAmI())
    }
}
await session.stop()
