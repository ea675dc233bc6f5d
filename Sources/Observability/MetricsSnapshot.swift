// SPDX-License-Identifier: Apache-2.0

package import BearerdSystem

/// The data of `/metrics` at one moment.
package struct MetricsSnapshot: Sendable {
    /// bearerd's version.
    package var version: String
    /// The counts of all workers, merged.
    package var workers: WorkerMetrics
    /// One entry for each identity of the configuration.
    package var identities: [IdentityMetrics]
    /// The number of routes that use an identity, for each identity's name; unused ones are missing.
    package var routeCounts: [String: Int]
    /// True for each failing route of the current configuration, keyed by its name.
    package var failingRoutes: [String: Bool]
    /// The kernel's figures for the process.
    package var process: ProcessStatistics
    /// The numbers of reloads of the configuration.
    package var reloads: ReloadCounts
    /// Log lines that were lost because their reader was too slow.
    package var droppedLogLines: Int
    /// Audit lines that were lost because the file could not be written.
    package var droppedAuditLines: Int
    /// Trace spans that were lost because no collector took them.
    package var droppedSpans: Int

    /// The limits of the process, and the certificates that end.
    package var capacity: ProcessCapacity

    package init(
        version: String, workers: WorkerMetrics, identities: [IdentityMetrics],
        routeCounts: [String: Int] = [:], failingRoutes: [String: Bool] = [:], process: ProcessStatistics,
        reloads: ReloadCounts = ReloadCounts(), capacity: ProcessCapacity = ProcessCapacity(),
        droppedLogLines: Int = 0,
        droppedAuditLines: Int = 0, droppedSpans: Int = 0
    ) {
        self.version = version
        self.workers = workers
        self.identities = identities
        self.routeCounts = routeCounts
        self.failingRoutes = failingRoutes
        self.process = process
        self.reloads = reloads
        self.capacity = capacity
        self.droppedLogLines = droppedLogLines
        self.droppedAuditLines = droppedAuditLines
        self.droppedSpans = droppedSpans
    }
}
