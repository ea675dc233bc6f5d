// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport

/// A session with an id token, as after a person's login, and a provider with a logout endpoint.
final class ImportedSession: Sendable {
    static let subject = "user-1"

    let provider: HostileProvider
    let directory: TemporaryDirectory
    let configuration: String
    /// The imported refresh token.
    let refreshToken: String
    let idToken: String

    /// - Parameter without: endpoints that the provider does not have.
    init(without missing: [String] = [], store: String? = nil, admin: Address? = nil) throws {
        let provider = try HostileProvider()
        let members = ["userinfo", "revocation", "end_session", "registration"].filter {
            !missing.contains($0)
        }
        .map { #","\#($0)_endpoint":"\#(provider.issuer)/\#($0)""# }.joined()
        provider.discovery { _, provider in provider.discoveryDocument(members: members) }
        provider.serve("GET", "/userinfo") { _ in
            .json(#"{"sub":"\#(ImportedSession.subject)","name":"A B"}"#)
        }
        provider.serve("POST", "/revocation") { _ in .response(200) }
        provider.serve("POST", "/end_session") { _ in .ok("<p>Good bye") }
        self.provider = provider
        directory = try TemporaryDirectory()
        var text = Sidecar.configuration(
            provider: provider, upstream: "http://127.0.0.1:1", clientSecret: "secret-" + randomText(),
            directory: directory, .init(store: store, grant: "refresh_token"))
        if let admin { text = text.asking(admin) }
        configuration = try directory.write("config.yaml", text)
        refreshToken = provider.makeRefreshToken()
        // {"alg":"RS256"}.{"sub":"user-1"}
        idToken = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ1c2VyLTEifQ." + randomText()
    }

    /// Imports the session into the store.
    func begin() throws {
        let session = #"{"refreshToken":"\#(refreshToken)","mLastTokenResponse":{"id_token":"\#(idToken)"}}"#
        let file = try directory.write("session", session)
        let result = try BearerdProcess.command("import", "--appauth-android", file, "-c", configuration)
        guard result.exit == 0 else { throw WireError(result.errors) }
    }

    /// Runs a command to its end.
    func command(_ words: String...) throws -> (exit: Int32, output: String, errors: String) {
        let result = try Subprocess.run([BearerdProcess.binary] + words + ["-c", configuration])
        guard case .exited(let code) = result.ending else { throw WireError("\(words) \(result.ending)") }
        return (code, result.output, result.errors)
    }

    /// Every token of the session.
    var secrets: [String] { provider.handedOut + [idToken] }

    /// The content of all files of the store.
    var stored: String {
        get throws {
            let listing = try Subprocess.run(["/bin/sh", "-c", "cat \(directory.path("store"))/*"])
            return listing.output
        }
    }
}
