// SPDX-License-Identifier: Apache-2.0

/// The interval of the device flow's token requests (RFC 8628 §3.5).
struct DevicePolling {
    private static let slowDown: Duration = .seconds(5)
    /// The interval doubles with each request that is not answered, up to this.
    private static let longestInterval: Duration = .seconds(60)

    private(set) var interval: Duration

    /// Adjusts the interval to the response of a request.
    ///
    /// - Returns: true if the request is to be repeated; false for a failure that ends the login.
    /// - Throws: ``LoginError`` if the person has refused, or not decided in time.
    mutating func continues(after failure: TokenFailure) throws(LoginError) -> Bool {
        switch failure.reason {
        case .refused(.authorizationPending):
            return true
        case .refused(.slowDown):
            interval += Self.slowDown
            return true
        case .refused(.accessDenied):
            throw .refused(AuthorizationRefusal(code: .accessDenied, description: nil))
        case .refused(.expiredToken):
            throw .expired
        default:
            guard failure.kind == .transient, Self.isSilence(failure.reason) else { return false }
            interval = max(interval, min(interval * 2, Self.longestInterval), failure.retryAfter ?? .zero)
            return true
        }
    }

    /// Returns true for a reason that tells nothing of the person's decision.
    private static func isSilence(_ reason: TokenFailure.Reason) -> Bool {
        switch reason {
        case .refused(let error): [.temporarilyUnavailable, .serverError, .useDPoPNonce].contains(error)
        case .status, .unreachable, .timedOut, .interrupted, .notHTTP, .emptyAnswer, .answerTooLarge: true
        case .certificate, .cancelled, .superseded, .store, .noAccessToken, .badAccessToken, .wrongTokenType,
            .expiredOnArrival, .badAnswer, .badIDToken, .badSignature, .noKeys, .badUserinfo, .noSubject,
            .subjectMismatch, .badRegistration, .noMetadata, .issuerMismatch, .badIssuer, .noEndpoint,
            .insecureEndpoint, .notRegistered, .noCredential, .unreadableCredential, .badCredential,
            .badParameter, .badRedirectURI, .noIdentity, .noProof:
            false
        }
    }
}
