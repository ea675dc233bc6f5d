// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OAuth

/// What decides beside the kind of a failure, and the word that people and programs read of it.
@Suite struct `A failure's reason` {
    private static let ours: [TokenFailure.Reason] = [
        .emptyResponse, .noAccessToken, .badAccessToken, .wrongTokenType, .expiredOnArrival, .tokenUnchanged,
        .commandFailed, .badResponse,
        .badIDToken, .badSignature, .noKeys, .badUserinfo, .noSubject, .subjectMismatch, .badRegistration,
        .noMetadata, .issuerMismatch, .unreachable, .certificate, .timedOut, .interrupted, .responseTooLarge,
        .badIssuer, .noEndpoint(.token), .noEndpoint(.revocation), .insecureEndpoint, .notRegistered,
        .noCredential(.clientSecret), .unreadableCredential(.privateKey), .badCredential(.assertion),
        .badRedirectURI, .noIdentity, .store(.busy(by: nil)), .store(.unavailable("disk full")), .cancelled,
        .superseded, .notHTTP,
    ]

    @Test func `has a word that may be shown`() throws {
        for reason in Self.ours { #expect(ErrorCode(rawValue: reason.code) != nil, "\(reason)") }
        #expect(TokenFailure.Reason.status(503).code == "http_503")
        #expect(try reason(of: "unheard_of").code == "unheard_of")
    }

    @Test func `is never one of ours because a server uses the same word`() throws {
        for ours in Self.ours {
            let told = try reason(of: ours.code)
            #expect(told != ours && told.code == ours.code, "\(ours)")
        }
    }

    /// What is made of an answer with this `error`.
    private func reason(of error: String) throws -> TokenFailure.Reason {
        let answer = TokenRequestResult(
            TransportResponse(status: 400, body: Array(#"{"error":"\#(error)"}"#.utf8)),
            to: .original, of: ClientConfiguration(name: "default", clientID: "app", grantType: .deviceCode),
            sentAt: .now, wall: WallTime(secondsSinceEpoch: 0))
        let failure = #expect(throws: TokenFailure.self) { try answer.result.get() }
        return try #require(failure).reason
    }

    @Test(arguments: [
        (TokenFailure(.transient, .status(503), detail: "it answered 503"), "it answered 503"),
        (TokenFailure(.transient, .status(503), detail: "it is tired"), "it is tired (http_503)"),
        (
            TokenFailure(.final, .refused(.invalidGrant), detail: "it answered 400"),
            "it answered 400 (invalid_grant)"
        ),
    ])
    func `is told once`(failure: TokenFailure, sentence: String) {
        #expect(failure.sentence == sentence)
        #expect(LastError(code: failure.code, detail: failure.detail).sentence == sentence)
    }
}
