// SPDX-License-Identifier: Apache-2.0

/// The numbers of reloads of the configuration by result; the start does not count.
package struct ReloadCounts: Sendable, Equatable {
    /// Reloads after which the new configuration is in force.
    package var successes = 0
    /// Reloads after which the previous configuration stays in force.
    package var failures = 0
    /// When the configuration in force was read, at the start or by a reload, in seconds since 1970.
    package var lastSuccess: Double

    package init(lastSuccess: Double = 0) { self.lastSuccess = lastSuccess }
}
