// SPDX-License-Identifier: Apache-2.0

/// How often the configuration was read again, and what came of it; the start does not count.
package struct ReloadCounts: Sendable, Equatable {
    /// The new one is in force.
    package var successes = 0
    /// The one before goes on.
    package var failures = 0
    /// When the configuration in force was taken over, at the start or by a reload: seconds since 1970.
    package var lastSuccess: Double

    package init(lastSuccess: Double = 0) { self.lastSuccess = lastSuccess }
}
