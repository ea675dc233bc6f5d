// SPDX-License-Identifier: Apache-2.0

/// What a store says when it finds a file that holds no session.
package struct DamagedEntry: Equatable, Sendable {
    package let identity: String
    /// The path that the file had.
    package let path: String
    /// Where it was put aside; nil while another process holds the identity's lock, or if that failed.
    package let keptAs: String?
    /// Whether the generation before was whole and is used instead.
    package let hasPrevious: Bool

    package init(identity: String, path: String, keptAs: String?, hasPrevious: Bool) {
        self.identity = identity
        self.path = path
        self.keptAs = keptAs
        self.hasPrevious = hasPrevious
    }
}
