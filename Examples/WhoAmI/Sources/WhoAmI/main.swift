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

if await session.status.state == .empty {
    try await runtime.logIn(session) { url in
        FileHandle.standardError.write(Data("Visit \(url)\n".utf8))
    }
}

for _ in 1...3 {
    try await session.withFreshTokens { tokens in
        var request = URLRequest(url: api)
        request.setValue("Bearer \(tokens.accessToken)", forHTTPHeaderField: "Authorization")
        let (body, _) = try await URLSession.shared.data(for: request)
        print(String(decoding: body, as: UTF8.self))
    }
}
await session.stop()
