// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import BearerdJSON

/// Pushed authorization requests (RFC 9126).
extension AuthorizationServer {
    /// A shorter lifetime of a reference is taken for this.
    private static let shortestLifetime: Duration = .seconds(5)
    private static let longestLifetime: Duration = .seconds(600)
    /// The lifetime of a reference without `expires_in`, which RFC 9126 §2.2 requires.
    private static let standardLifetime: Duration = .seconds(60)
    private static let longestReference = 4096

    /// Returns true if a login's request has to be pushed.
    ///
    /// - Throws: ``TokenFailure`` if the server's metadata are needed and cannot be had.
    func pushesRequests() async throws(TokenFailure) -> Bool {
        switch configuration.pushedRequests {
        case .never: return false
        case .always: return true
        case .whereRequired:
            return try await metadataIfPublished()?.wantsPushedRequests ?? false
        }
    }

    /// Pushes a request, and returns it with a URL that refers to it.
    ///
    /// - Throws: ``TokenFailure`` if the server does not take it.
    func push(_ request: AuthorizationRequest) async throws(TokenFailure) -> AuthorizationRequest {
        let sentAt = clock.now
        let response = try await post(
            request.form, to: .pushedAuthorizationRequest, proving: request.proofKey)
        let body = ResponseBody(response.body)
        guard 200..<300 ~= response.status, let reference = body[.requestURI]?.string,
            1...Self.longestReference ~= reference.utf8.count,
            reference.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
        else { throw failure(of: response, body) }
        let seconds = body[.expiresIn]?.number.map { Duration.seconds(min(max($0, 0), 1e6)) }
        let lifetime = min(
            max(seconds ?? Self.standardLifetime, Self.shortestLifetime), Self.longestLifetime)
        return request.pushed(as: reference, until: sentAt + lifetime)
    }

    private func failure(of response: TransportResponse, _ body: ResponseBody) -> TokenFailure {
        let error = ErrorResponse(
            response: response, body: body, grant: .original, grantType: .authorizationCode,
            wall: clock.wallNow)
        guard 200..<300 ~= response.status, body.code == nil else {
            return advised(
                error.failure ?? TokenFailure(.transient, .badResponse, detail: response.failureDetail))
        }
        return TokenFailure(
            .transient, .badResponse, detail: "the answer of \(response.place) has no request_uri")
    }
}

extension ServiceConfiguration {
    /// True if the server takes pushed authorization requests alone (RFC 9126 §5).
    var wantsPushedRequests: Bool {
        document[MetadataMember.requiresPushedRequests.rawValue]?.bool ?? false
    }
}
