// SPDX-License-Identifier: Apache-2.0
//
// A session on the product OAuth alone, with HTTP, clocks, a thread and a store of the program's own: it needs libssl, libcjose and
// libjansson, and neither libcurl nor libevent.
//
//     CLIENT_SECRET=demo swift run --package-path Examples OwnHTTP http://127.0.0.1:8081 demo STORE_DIRECTORY

import OAuth
import OneFileStore
import Program

await run("OwnHTTP", "ISSUER", "CLIENT_ID", "STORE_DIRECTORY") { words in
    var client = ClientConfiguration(name: "default", clientID: words[1], grantType: .clientCredentials)
    client.issuer = words[0]
    client.authentication = .basic
    let session = AuthSession(
        configuration: client, executor: QueueExecutor(), clock: SystemClock(),
        transport: FoundationTransport(), store: OneFileStore(directory: words[2]),
        credentials: EnvironmentCredentials(), observer: PrintingObserver())
    await session.start()
    let length = try await session.withFreshTokens { $0.accessToken.utf8.count }
    say("a token of \(length) bytes, \(await session.tokenType ?? "of no type")")
    await session.stop()
}
