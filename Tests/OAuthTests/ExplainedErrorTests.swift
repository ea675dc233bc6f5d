// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON
import Testing

@testable import OAuth

/// What a person reads who sees only the error.
struct `An error that is printed` {
    private static let failure = TokenFailure(
        .transient, .timedOut, detail: "https://sso.example did not answer within 10 s")
    private static let refusal = AuthorizationRefusal(code: .accessDenied, description: "ask your admin")

    private static let errors: [(any ExplainedError, says: String)] = [
        (TokenError.loginRequired, "log in"),
        (
            TokenError.misconfigured(retryAfter: .seconds(60)),
            "look at the configuration; it is asked again in 60 s"
        ),
        (TokenError.unavailable(retryAfter: .milliseconds(1500)), "try again in 2 s"),
        (TokenError.storeUnavailable(retryAfter: .seconds(5)), "the store"),
        (TokenError.cancelled, "cancelled"),
        (TokenError.stopped, "was stopped"),
        (failure, "did not answer within 10 s (timed_out)"),
        (LoginError.refused(refusal), "refused: access_denied: ask your admin"),
        (LoginError.expired, "in time"),
        (LoginError.cancelled, "given up"),
        (LoginError.failed(failure), "timed_out"),
        (LoginError.unstored(.unavailable("disk full")), "cannot be stored: disk full"),
        (SessionFailure.token(.loginRequired), "log in"),
        (SessionFailure.server(failure), "timed_out"),
        (SessionFailure.store(.busy(by: "process 7")), "the store: process 7 keeps"),
        (StoreError.outdated, "newer session"),
        (StoreError.leaseLost, "lock"),
        (CredentialError(reason: "there is no file secret.txt"), "no file secret.txt"),
        (TransportError.unreachable("no route"), "cannot be reached: no route"),
        (TransportError.certificate("unknown CA"), "TLS with the server: unknown CA"),
        (TransportError.timedOut, "in time"),
        (TransportError.interrupted("reset"), "broke off: reset"),
        (TransportError.responseTooLarge, "larger"),
        (TransportError.notHTTP("SSH"), "no HTTP: SSH"),
        (AuthorizedRequestError.invalidURL, "absolute"),
        (AuthorizedRequestError.insecureURL, "use https"),
        (AuthorizationResponseError.stateMismatch, "no answer to the login: its state"),
        (
            AuthorizationResponseError.issuerMismatch(found: "https://a", expected: "https://b"),
            "of the issuer 'https://a', and 'https://b' was asked"
        ),
        (AccessTokenError.missing, "no access token"),
        (AccessTokenError.unavailable(failure), "cannot be judged: https://sso.example"),
    ]

    @Test(arguments: errors.indices) func `is one sentence`(_ index: Int) {
        let (error, words) = Self.errors[index]
        #expect(error.sentence.contains(words), "\(error.sentence)")
        #expect("\(error)" == error.sentence)
        #expect(!error.sentence.hasSuffix("."))
    }

    @Test func `is one line, whatever a program has put into it`() {
        let reasons = "first\nsecond\r\n\u{2028}third\u{1B}[31m"
        let errors: [any ExplainedError] = [
            StoreError.unavailable(reasons), CredentialError(reason: reasons),
            TransportError.interrupted(reasons),
            TokenFailure(.final, .cancelled, detail: reasons),
            LoginError.failed(TokenFailure(.final, .cancelled, detail: reasons)),
        ]
        for error in errors {
            let isPlain = "\(error)".unicodeScalars.allSatisfy {
                ![.control, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
            }
            #expect(isPlain && "\(error)".contains("second"), "\(error)")
        }
    }

    @Test func `repeats no secret that a transport, a store or a file has let slip`() {
        let secret = Secret("fake-refresh-token-of-alice")
        let reason = "POST refresh_token=fake-refresh-token-of-alice failed"
        let errors: [any ExplainedError] = [
            StoreError.unavailable(reason), StoreError.refused(reason), CredentialError(reason: reason),
            TransportError.unreachable(reason), TransportError.notHTTP(reason),
            LoginError.unstored(.denied(reason)),
            SessionFailure.store(.unreachable(reason)),
        ]
        for error in errors { #expect(!"\(error)".contains("of-alice"), "\(error)") }
        withExtendedLifetime(secret) {}
    }

    @Test func `of an identity's status is a line too`() {
        let error = LastError(code: "timed_out", detail: "no answer\nof https://sso.example")
        #expect("\(error)" == "no answer of https://sso.example (timed_out)")
    }
}

/// Configurations in a log line.
struct `A configuration that is printed` {
    @Test func `is a line without secrets`() {
        var client = ClientConfiguration(name: "default", clientID: "app", grantType: .authorizationCode)
        client.issuer = "https://sso.example/realms/demo"
        client.tokenHeaders = [NamedValue("X-Api-Key", "fake-api-key-1")]
        client.tokenParameters = [NamedValue("tenant_password", "fake-password-2")]
        #expect(
            "\(client)" == "client app of https://sso.example/realms/demo ('default', authorization_code)")
        var dumped = "\(client)" + String(reflecting: client) + "\([client])"
        dump(client, to: &dumped)
        #expect(!dumped.contains("fake-"), "\(dumped)")
        client.clientID = "two\nlines"
        #expect(!"\(client)".contains("\n"))
    }

    @Test func `of a server names its endpoints`() throws {
        let service = try #require(
            ServiceConfiguration(
                document: [
                    "issuer": "https://sso.example", "token_endpoint": "https://sso.example/token",
                    "authorization_endpoint": "https://sso.example/authorize",
                ]))
        #expect("\(service)" == "metadata of https://sso.example (authorization_endpoint, token_endpoint)")
    }
}
