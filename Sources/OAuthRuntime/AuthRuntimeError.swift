// SPDX-License-Identifier: Apache-2.0

/// Why there is nothing for sessions to stand on.
public struct AuthRuntimeError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What, where, and the system's words.
    public let reason: String

    /// The same as ``reason``.
    public var description: String { reason }
}
