// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdTestSupport
import OAuthRuntime
import Testing

@Suite(.blocking, .needs(.keyring)) struct `A program's key in the keyring` {
    private static let name = "the \"key\" of a program $HOME;"

    private func key(
        on bus: SessionBus, _ directory: String, named name: String = Self.name
    ) throws -> Secret {
        try KeyringStorage.key(
            named: name, for: directory,
            environment: bus.environment.merging(["PATH": "/usr/bin:/bin"]) { $1 })
    }

    private func reason(_ bus: SessionBus, _ directory: String) -> String? {
        do {
            _ = try key(on: bus, directory)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Keeps a session in the directory, encrypted with a key.
    private func keep(_ token: String, in directory: String, with key: Secret) async throws {
        var client = ClientConfiguration(name: "default", clientID: "app", grantType: .authorizationCode)
        client.issuer = "http://127.0.0.1:1"
        let runtime = try AuthRuntime(storage: .encryptedDirectory(directory, key: key))
        try await runtime.session(for: client).take(Secret(token))
    }

    @Test func `is made once, and opens the sessions again`() async throws {
        let (bus, directory) = (try SessionBus(), try TemporaryDirectory())
        try bus.startKeyring()
        let store = directory.path("store")
        let keys = try concurrently(4) { _ in try key(on: bus, store).withPlaintext { $0 } }
        #expect(Set(keys).count == 1, "all who make it at once have the same")
        #expect(try bus.count(of: Self.name) == 1)
        try await keep("fake-refresh-token", in: store, with: Secret(keys[0]))
        let stored = try key(on: bus, store).withPlaintext { $0 }
        #expect(stored == keys[0])
        var client = ClientConfiguration(name: "default", clientID: "app", grantType: .authorizationCode)
        client.issuer = "http://127.0.0.1:1"
        let session = try AuthRuntime(storage: .encryptedDirectory(store, key: Secret(stored))).session(
            for: client)
        #expect(await session.isAuthorized)
    }

    @Test func `is not made anew where sessions need the one that has gone`() async throws {
        let (bus, directory) = (try SessionBus(), try TemporaryDirectory())
        try bus.startKeyring()
        let store = directory.path("store")
        try await keep("fake-refresh-token", in: store, with: Secret(String(repeating: "ab", count: 32)))
        #expect(reason(bus, store)?.contains("put it back, or move the directory away") == true)
        #expect(try bus.count(of: Self.name) == 0)
    }

    @Test func `may be one that bearerd has made`() throws {
        let (bus, directory) = (try SessionBus(), try TemporaryDirectory())
        try bus.startKeyring()
        let provider = try HostileProvider()
        let sidecar = try Sidecar(
            provider: provider, directory: directory, environment: bus.environment,
            .init(store: "directory: \(directory.path("store"))\nencryption_key_keyring: shared"))
        try sidecar.awaitToken()
        let made = try bus.value(of: "shared")
        let key = try key(on: bus, directory.path("store"), named: "shared")
        #expect(key.matches(Array(Base64.encode(made).utf8)))
    }

    @Test func `says what is wrong where it cannot be had`() throws {
        let (bus, directory) = (try SessionBus(), try TemporaryDirectory())
        let silent = reason(bus, directory.path("store"))
        #expect(silent?.contains("cannot be had of the Secret Service (") == true, "\(silent ?? "")")
        #expect(silent?.contains("\n") == false)
        let missing = #expect(throws: AuthRuntimeError.self) {
            _ = try KeyringStorage.key(
                named: "a", for: directory.path("store"), environment: ["PATH": directory.path("nothing")])
        }
        #expect(missing?.sentence.contains("install libsecret-tools") == true)
        #expect(TemporaryDirectory.entries(of: directory.path("")).allSatisfy { !$0.contains("store") })
    }
}
