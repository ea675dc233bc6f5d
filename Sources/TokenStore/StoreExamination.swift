// SPDX-License-Identifier: Apache-2.0

/// What is seen of the place where sessions are to be stored.
package struct StoreExamination: Sendable {
    /// A configured directory that is there and is not used itself.
    package struct Unused: Sendable {
        /// What is wrong with it.
        package let problem: String
        /// Whether it is ours, so that a mode of 0700 is all that it lacks.
        package let isOurs: Bool
        /// Whether sessions lie in it.
        package let holdsSessions: Bool
    }

    /// The directory that is used, not always the configured one.
    package let path: String
    /// Whether it is there already; if it is not it could be made.
    package let isThere: Bool
    /// Why it is not the configured one; nil where it is.
    package let unused: Unused?
}
