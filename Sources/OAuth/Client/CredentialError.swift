// SPDX-License-Identifier: Apache-2.0

/// Why a credential could not be read: there is no file, no permission, an insecure mode, or nothing in it.
public struct CredentialError: Error, Equatable, Sendable {
    /// The file and the reason, never its contents.
    public let reason: String
    /// True if the system denies access, which may change with a restart.
    package var isDenied = false

    /// An error with a reason that holds no secret.
    public init(reason: String) {
        self.reason = reason
    }
}
