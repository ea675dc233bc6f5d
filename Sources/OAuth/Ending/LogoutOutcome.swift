// SPDX-License-Identifier: Apache-2.0

/// What became of a logout.
public struct LogoutOutcome: Sendable {
    /// What became of one thing that was asked of the provider; the raw value is what programs see.
    public enum Step: String, Sendable {
        /// The provider said yes; of its own session that means no more than that it has been asked.
        case requested
        /// The provider has no such endpoint.
        case notSupported = "not_supported"
        /// There was no token to do it with, or it was not wanted.
        case nothingToDo = "nothing_to_do"
        /// See ``LogoutOutcome/failures``.
        case failed
    }

    /// Why the store holds the session still; a session that goes on has forgotten it, and tries the store again.
    public var storeFailure: StoreError?
    /// What became of the tokens at the provider (RFC 7009).
    public var revocation = Step.nothingToDo
    /// What became of the provider's own session.
    public var endSession = Step.nothingToDo
    /// Why steps failed, in the order in which they did.
    public var failures: [TokenFailure] = []
    /// A request for a browser to make, to which most providers tie their session; nil where there is nothing to send.
    public var request: EndSessionRequest?

    /// A logout that has asked for nothing yet.
    public init() {}
}
