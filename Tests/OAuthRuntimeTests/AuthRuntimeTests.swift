// SPDX-License-Identifier: Apache-2.0

import Cryptography
import OAuth
import OAuthRuntime
import TestSupport
import Testing

/// What a program that is not bearerd is told of what it stands on.
@Suite(.timeLimit(.minutes(1))) struct `A runtime for other programs` {
    private var person: ClientConfiguration {
        var client = ClientConfiguration(
            name: "default", clientID: "my-program", grantType: .authorizationCode)
        client.issuer = "http://127.0.0.1:1"
        return client
    }

    private func reason(of storage: AuthRuntime.Storage) -> String? {
        do throws(AuthRuntimeError) {
            _ = try AuthRuntime(storage: storage)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func `says why it cannot open its store`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("file", "not a directory")
        #expect(reason(of: .directory(file))?.contains(file) == true)
        let key = Secret("fake-and-too-short")
        let refused = reason(of: .encryptedDirectory(directory.path("store"), key: key))
        #expect(refused == "the key is not 32 bytes in base64 or hexadecimal")
    }

    @Test func `says which authorities it cannot read`() throws {
        let runtime = try AuthRuntime(storage: .memory)
        #expect(throws: AuthRuntimeError.self) {
            _ = try runtime.session(for: person, caFile: "/nowhere/ca.pem")
        }
        #expect(throws: AuthRuntimeError.self) { _ = try runtime.transport(caFile: "/nowhere/ca.pem") }
    }

    @Test func `asks for a login before there was one, and again in another process of the same store`()
        async throws
    {
        let directory = try TemporaryDirectory()
        for _ in 0..<2 {
            let runtime = try AuthRuntime(storage: .directory(directory.path("store")))
            let session = try runtime.session(for: person)
            await session.start()
            #expect(await session.status.state == .loginRequired)
            await #expect(throws: TokenError.loginRequired) {
                _ = try await session.freshToken(waitingAtMost: .seconds(5))
            }
            await session.stop()
        }
    }

    @Test func `takes a redirect to this machine alone`() async throws {
        let runtime = try AuthRuntime(storage: .memory)
        let session = try runtime.session(for: person)
        for uri in ["https://app.example.com/callback", "http://10.0.0.1:0/callback", "nonsense"] {
            let outcome = await Task {
                try await runtime.logIn(session, redirectURI: uri) { url in
                    Issue.record("\(url) is shown")
                }
            }.result
            guard case .failure(let error) = outcome else {
                Issue.record("\(uri) is taken")
                continue
            }
            #expect("\(error)".contains(uri), "\(error)")
        }
    }
}
