// SPDX-License-Identifier: Apache-2.0

import HTTPMessages
import JSON

/// Authorization requests that go to the server itself, so that the browser carries no more than a reference (RFC 9126).
extension AuthorizationServer {
    /// A reference that ends sooner is not made anew sooner.
    private static let shortestLifetime: Duration = .seconds(5)
    private static let longestLifetime: Duration = .seconds(600)
    /// Of a reference whose lifetime the server does not tell (RFC 9126 §2.2 wants it to).
    private static let standardLifetime: Duration = .seconds(60)
    private static let longestReference = 4096

    /// Whether a login's request is to be pushed.
    ///
    /// - Throws: ``TokenFailure`` if nobody can say whether the server requires it.
    func pushesRequests() async throws(TokenFailure) -> Bool {
        switch configuration.pushedRequests {
        case .never: return false
        case .always: return true
        case .whereRequired:
            return try await metadataIfPublished()?.wantsPushedRequests ?? false
        }
    }

    /// The request, pushed: its parameters are the server's alone from then on.
    ///
    /// - Throws: ``TokenFailure`` if the server does not take it.
    func push(_ request: AuthorizationRequest) async throws(TokenFailure) -> AuthorizationRequest {
        let sentAt = clock.now
        let response = try await post(
            request.form, to: .pushedAuthorizationRequest, proving: request.proofKey)
        let body = AnswerBody(response.body)
        guard 200..<300 ~= response.status, let reference = body[.requestURI]?.string,
            1...Self.longestReference ~= reference.utf8.count,
            reference.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
        else { throw failure(of: response, body) }
        let seconds = body[.expiresIn]?.number.map { Duration.seconds(min(max($0, 0), 1e6)) }
        let lifetime = min(
            max(seconds ?? Self.standardLifetime, Self.shortestLifetime), Self.longestLifetime)
        return request.pushed(as: reference, until: sentAt + lifetime)
    }

    private func failure(of response: ProviderResponse, _ body: AnswerBody) -> TokenFailure {
        let table = OutcomeTable(
            response, body, grant: .original, grantType: .authorizationCode,
            retryAfter: RetryAfter.delay(in: response.fields, wall: clock.wallNow))
        guard 200..<300 ~= response.status, body.code == nil else {
            return advised(
                table.failure ?? TokenFailure(.transient, .badAnswer, detail: response.failureDetail))
        }
        return TokenFailure(
            .transient, .badAnswer, detail: "the answer of \(response.place) has no request_uri")
    }
}

extension ServiceConfiguration {
    /// Whether the server takes pushed authorization requests alone (RFC 9126 §5).
    var wantsPushedRequests: Bool {
        document[MetadataMember.requiresPushedRequests.rawValue]?.bool ?? false
    }
}
