// SPDX-License-Identifier: Apache-2.0

/// The state of the directory in which sessions are to be stored.
package struct StoreExamination: Sendable {
    /// A configured directory that exists and is not used itself.
    package struct Unused: Sendable {
        package let problem: String
        /// The directory in its place.
        package let substitute: String
        /// True if it is ours, so that it only needs mode 0700.
        package let isOurs: Bool
        package let holdsSessions: Bool
    }

    /// The directory in use, which is not always the configured one.
    package let path: String
    /// True if it exists; if not, it could be made.
    package let isThere: Bool
    /// The reason why it is not the configured one; nil if it is.
    package let unused: Unused?
}
