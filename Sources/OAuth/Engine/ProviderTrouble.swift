// SPDX-License-Identifier: Apache-2.0

/// Token requests that failed in a row, for reasons that say nothing of what was asked for.
///
/// All targets of an identity ask the same provider: while it is in trouble, or wants fewer requests, they are one client.
struct ProviderTrouble: Sendable {
    /// The target that failed last; the others come first when the authorization server is asked again.
    let target: TargetID
    /// The failure that it ended with, and until when no target is asked for.
    let failure: LastFailure

    /// Takes note of one more failure.
    ///
    /// A target that fails alone, because the server does what it should only for others, makes those wait no longer each
    /// time.
    init(_ failure: TokenFailure, of target: TargetID, after previous: ProviderTrouble?, at moment: Moment) {
        let isShared = previous.map { $0.target != target } ?? false
        let count = min((previous?.failure.count ?? 1) + (isShared ? 1 : 0), 1000)
        self.target = target
        self.failure = LastFailure(
            cause: failure, count: count,
            retry: moment.now + failure.delay(after: count, doubtfulAnswers: 0, jitter: moment.jitter),
            at: moment.wall
        )
    }
}

extension TokenFailure {
    /// True if it says nothing of what was asked for, so that it would be the same for all targets of an identity.
    var isOfProvider: Bool {
        guard kind == .transient else { return false }
        switch reason {
        case .refused, .status, .emptyResponse, .noMetadata, .unreachable, .timedOut, .interrupted,
            .responseTooLarge, .notHTTP:
            return true
        case .noAccessToken, .badAccessToken, .wrongTokenType, .expiredOnArrival, .tokenUnchanged,
            .commandFailed, .badResponse,
            .badIDToken, .badSignature, .noKeys, .badUserinfo, .noSubject, .subjectMismatch, .badRegistration,
            .issuerMismatch, .certificate, .badIssuer, .noEndpoint, .insecureEndpoint, .notRegistered,
            .noCredential, .unreadableCredential, .badCredential, .badParameter, .noProof, .badRedirectURI,
            .noIdentity, .store, .cancelled, .superseded:
            return false
        }
    }
}
