// SPDX-License-Identifier: Apache-2.0

/// The reason why a runtime or a session cannot be made.
///
/// It stands beside the other errors so that `OAuthFoundation`, which needs no runtime, can make all of them a
/// `LocalizedError`.
public struct AuthRuntimeError: ExplainedError, Equatable, Sendable {
    /// A sentence with what failed, where, and the system's words.
    public let reason: String

    package init(reason: String) { self.reason = reason }

    /// The ``reason``.
    public var sentence: String { reason }
}
