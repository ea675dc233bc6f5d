// SPDX-License-Identifier: Apache-2.0

/// Why a credential could not be read: no file, no permission, an insecure mode, nothing in it.
package struct CredentialError: Error, Equatable, Sendable {
    /// Names the file and the reason, never what is in it.
    package let reason: String

    package init(reason: String) {
        self.reason = reason
    }
}
