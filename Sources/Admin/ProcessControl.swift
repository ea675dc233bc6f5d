// SPDX-License-Identifier: Apache-2.0

package import Observability

/// The running process, as the admin listener sees it.
package protocol ProcessControl: Sendable {
    /// Time since the start.
    var uptime: Duration { get }

    /// Log lines lost so far.
    var droppedLogLines: Int { get }

    /// Whether a drain has begun.
    func isDraining() async -> Bool

    /// Whether every worker's loop takes its turn within a second or so.
    func loopsTurn() async -> Bool

    /// What all workers counted, merged.
    func workerMetrics() async -> WorkerMetrics

    /// How often the configuration was read again.
    func reloads() async -> ReloadCounts

    /// Reads the configuration again and takes it over, as SIGHUP has it.
    ///
    /// - Returns: warnings about it, a line each.
    /// - Throws: why the one before goes on.
    func reload() async throws(ReloadRefusal) -> [String]

    /// Begins to drain, as SIGTERM does.
    func quit() async
}
