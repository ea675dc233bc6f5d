// SPDX-License-Identifier: Apache-2.0

/// Why a credential could not be read: no file, no permission, an insecure mode, nothing in it.
public struct CredentialError: Error, Equatable, Sendable {
    /// Names the file and the reason, never what is in it.
    public let reason: String
    /// Whether the system does not let us, which may be another one after a restart.
    package var isDenied = false

    /// An error with a reason that holds no secret.
    public init(reason: String) {
        self.reason = reason
    }
}
