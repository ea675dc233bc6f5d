// SPDX-License-Identifier: Apache-2.0

package import System

/// Everything that `/metrics` shows, at one moment.
package struct MetricsSnapshot: Sendable {
    /// bearerd's version.
    package var version: String
    /// What all workers counted, merged.
    package var workers: WorkerMetrics
    /// One entry for each identity of the configuration.
    package var identities: [IdentityMetrics]
    /// What the kernel counts of the process.
    package var process: ProcessStatistics
    /// How often the configuration was read again.
    package var reloads: ReloadCounts
    /// Log lines that were lost because nobody read them fast enough.
    package var droppedLogLines: Int

    package init(
        version: String, workers: WorkerMetrics, identities: [IdentityMetrics],
        process: ProcessStatistics, reloads: ReloadCounts = ReloadCounts(), droppedLogLines: Int = 0
    ) {
        self.version = version
        self.workers = workers
        self.identities = identities
        self.process = process
        self.reloads = reloads
        self.droppedLogLines = droppedLogLines
    }
}
