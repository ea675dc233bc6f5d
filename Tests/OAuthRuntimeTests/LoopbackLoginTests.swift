// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import OAuth
import Testing

@testable import OAuthRuntime

/// The login that commands and other programs share, as far as it needs no browser.
@Suite(.timeLimit(.minutes(10))) struct `A login on loopback` {
    private enum Outcome: Error, Equatable {
        case failed(LoopbackLogin.Failure)
        case notShown(url: String)
    }

    private func outcome(redirectURI: String, limit: Duration, isShown: Bool) async throws -> Outcome? {
        var client = ClientConfiguration(
            name: "default", clientID: "my-program", grantType: .authorizationCode)
        client.endpoints[.authorization] = HTTPURL("https://sso.example.com/authorize")
        client.endpoints[.token] = HTTPURL("https://sso.example.com/token")
        let runtime = try AuthRuntime(storage: .memory)
        let session = try runtime.session(for: client)
        let login = LoopbackLogin(
            session: session, uri: try #require(RedirectURI(redirectURI)), limit: limit, loop: runtime.loop)
        return await Task(executorPreference: runtime.loop) { () -> Outcome? in
            do throws(Outcome) {
                try await login.run(
                    failing: Outcome.failed,
                    open: { url throws(Outcome) in if !isShown { throw .notShown(url: url) } },
                    finish: { _ throws(Outcome) in }, page: { _ in .done })
                return nil
            } catch {
                return error
            }
        }.value
    }

    @Test func `that nobody comes back from expires`() async throws {
        let outcome = try await outcome(
            redirectURI: "http://127.0.0.1:0/callback", limit: .milliseconds(1), isShown: true)
        #expect(outcome == .failed(.expired))
    }

    @Test func `whose URL cannot be shown ends at once, and gives its port back`() async throws {
        let first = try await outcome(
            redirectURI: "http://127.0.0.1:0/callback", limit: .seconds(3600), isShown: false)
        guard case .notShown(let url)? = first else {
            Issue.record("\(String(describing: first))")
            return
        }
        let port = try #require(url.firstMatch(of: #/127\.0\.0\.1%3A(\d+)%2Fcallback/#)).output.1
        let second = try await outcome(
            redirectURI: "http://127.0.0.1:\(port)/callback", limit: .seconds(3600), isShown: false)
        guard case .notShown? = second else {
            Issue.record("\(String(describing: second))")
            return
        }
    }

    @Test func `is not awaited with TLS, for which there is no certificate`() async throws {
        var client = ClientConfiguration(
            name: "default", clientID: "my-program", grantType: .authorizationCode)
        client.issuer = "https://sso.example.com"
        let runtime = try AuthRuntime(storage: .memory)
        let session = try runtime.session(for: client)
        for uri in ["https://127.0.0.1:0/callback", "https://localhost/callback"] {
            await #expect(throws: LoginError.unusableRedirect("\(uri) is no http URL of this machine")) {
                try await runtime.logIn(session, redirectURI: uri) { _ in Issue.record("it is shown") }
            }
        }
    }

    @Test func `at an address that this machine has not says so`() async throws {
        let outcome = try await outcome(
            redirectURI: "http://192.0.2.1:0/callback", limit: .seconds(3600), isShown: true)
        guard case .failed(.address(let reason))? = outcome else {
            Issue.record("\(String(describing: outcome))")
            return
        }
        #expect(reason.contains("192.0.2.1"))
    }
}
