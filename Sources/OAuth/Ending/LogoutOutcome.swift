// SPDX-License-Identifier: Apache-2.0

/// What became of a logout, whose local part has always been done.
package struct LogoutOutcome: Sendable {
    /// What became of one thing that was asked of the provider; the raw value is what programs see.
    package enum Step: String, Sendable {
        /// The provider said yes; of its own session that means no more than that it has been asked.
        case requested
        /// The provider has no such endpoint.
        case notSupported = "not_supported"
        /// There was no token to do it with, or it was not wanted.
        case nothingToDo = "nothing_to_do"
        /// See ``LogoutOutcome/failures``.
        case failed
    }

    package var revocation = Step.nothingToDo
    package var endSession = Step.nothingToDo
    package var failures: [TokenFailure] = []
    /// For a browser, to which most providers tie their session; nil where there is nothing to send.
    package var request: EndSessionRequest?

    package init() {}
}
