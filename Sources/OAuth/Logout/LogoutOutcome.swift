// SPDX-License-Identifier: Apache-2.0

/// The result of a logout.
public struct LogoutOutcome: Sendable {
    /// The result of one request to the authorization server; the raw value is its name in JSON.
    public enum Step: String, Sendable {
        /// The authorization server accepted the request; for the end of its own session, that does not mean that it has
        /// ended.
        case requested
        /// The authorization server has no such endpoint.
        case notSupported = "not_supported"
        /// There was no token for the request, or it was not wanted.
        case nothingToDo = "nothing_to_do"
        /// The request failed; see ``LogoutOutcome/failures``.
        case failed
    }

    /// Set if the store still holds the session; the running session has ended, and saves its end again
    /// later.
    ///
    /// A session that was stopped does not: nothing of it has ended then, and nothing was revoked.
    public var storeFailure: StoreError?
    /// The result of revoking the tokens (RFC 7009).
    public var revocation = Step.nothingToDo
    /// The result of asking the authorization server to end its own session (OpenID Connect RP-Initiated Logout).
    public var endSession = Step.nothingToDo
    /// The failed requests, in order.
    public var failures: [TokenFailure] = []
    /// A logout request for a browser, which many providers need to find their session; nil if there is none.
    public var request: EndSessionRequest?

    /// A logout before any request.
    public init() {}
}
