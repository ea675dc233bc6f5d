// SPDX-License-Identifier: Apache-2.0
//
// Calls an API as a client of its own by URLSession.
//
//     CLIENT_SECRET=demo swift run --package-path Examples FoundationSession http://127.0.0.1:8081 demo http://127.0.0.1:8082/whoami

import Foundation
import FoundationNetworking
import OAuthFoundation
import OAuthRuntime
import Program

await run("FoundationSession", "ISSUER", "CLIENT_ID", "API_URL") { words in
    guard let api = URL(string: words[2]) else { throw URLError(.badURL) }
    var client = ClientConfiguration(name: "default", clientID: words[1], grantType: .clientCredentials)
    client.issuer = words[0]
    client.authentication = .basic
    let runtime = try AuthRuntime(storage: .memory)
    let session = try await runtime.open(client, over: URLSessionTransport()) { credential in
        credential == .clientSecret ? ProcessInfo.processInfo.environment["CLIENT_SECRET"] : nil
    }
    let (body, response) = try await session.data(for: URLRequest(url: api))
    say("\(response.statusCode): \(String(decoding: body, as: UTF8.self))")
    await session.stop()
    do {
        _ = try await session.data(for: URLRequest(url: api))
    } catch {
        say(error.localizedDescription)
    }
}
