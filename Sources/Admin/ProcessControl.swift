// SPDX-License-Identifier: Apache-2.0

package import BearerdAdminAPI
package import BearerdObservability
package import OAuth

/// The running process, as the admin listener sees it.
package protocol ProcessControl: Sendable {
    /// Time since the start.
    var uptime: Duration { get }

    /// The moment of the start.
    var startTime: WallTime { get }

    /// Log lines lost so far.
    var droppedLogLines: Int { get }

    /// Lines of the audit lost so far.
    var droppedAuditLines: Int { get }

    /// Spans of traces lost so far.
    var droppedSpans: Int { get }

    /// Whether a drain has begun.
    func isDraining() async -> Bool

    /// The workers whose loops take no turn within a second or so, by name.
    func silentWorkers() async -> [String]

    /// What all workers counted, merged.
    func workerMetrics() async -> WorkerMetrics

    /// The state of each upstream, by the path of its route.
    func upstreamHealth() async -> [String: UpstreamHealth]

    /// How often the configuration was read again.
    func reloads() async -> ReloadCounts

    /// The limits of the process, and the certificates that end.
    func capacity() async -> ProcessCapacity

    /// The last reload, if it was refused.
    func refusedReload() async -> RefusedReload?

    /// Reads the configuration again and takes it over, as SIGHUP has it.
    ///
    /// - Returns: warnings about it, a line each.
    /// - Throws: why the one before goes on.
    func reload() async throws(ReloadRefusal) -> [String]

    /// Begins to drain, as SIGTERM does.
    func quit() async
}
