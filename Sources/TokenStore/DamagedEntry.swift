// SPDX-License-Identifier: Apache-2.0

/// The report about a file that holds no valid session.
package struct DamagedEntry: Equatable, Sendable {
    package let identity: String
    package let path: String
    /// The name it was renamed to; nil while another process holds the identity's lock, or if renaming failed.
    package let keptAs: String?
    /// True if the previous generation was valid and is used instead.
    package let hasPrevious: Bool

    package init(identity: String, path: String, keptAs: String?, hasPrevious: Bool) {
        self.identity = identity
        self.path = path
        self.keptAs = keptAs
        self.hasPrevious = hasPrevious
    }
}
