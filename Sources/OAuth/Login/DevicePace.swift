// SPDX-License-Identifier: Apache-2.0

/// How often the device flow asks, by the answers that it gets (RFC 8628 §3.5).
struct DevicePace {
    private static let slowDown: Duration = .seconds(5)
    /// A server that does not answer is asked half as often each time, down to this.
    private static let longestInterval: Duration = .seconds(60)

    private(set) var interval: Duration

    /// Takes in the answer to a request.
    ///
    /// - Returns: whether to ask again; false for a failure that ends the login.
    /// - Throws: ``LoginError`` for what a person decided, or did not.
    mutating func goesOn(after failure: TokenFailure) throws(LoginError) -> Bool {
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

    /// Whether a reason tells nothing of what the person decided.
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
