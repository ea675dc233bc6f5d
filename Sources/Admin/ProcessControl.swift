// SPDX-License-Identifier: Apache-2.0

package import BearerdAdminAPI
package import BearerdObservability
package import OAuth

/// The running process as the admin listener sees it.
package protocol ProcessControl: Sendable {
    /// Time since the start.
    var uptime: Duration { get }

    /// The moment of the start.
    var startTime: WallTime { get }

    /// The number of log lines lost so far.
    var droppedLogLines: Int { get }

    /// The number of audit lines lost so far.
    var droppedAuditLines: Int { get }

    /// The number of trace spans lost so far.
    var droppedSpans: Int { get }

    /// Returns true if a drain has begun.
    func isDraining() async -> Bool

    /// The names of the workers whose loops did not respond within about a second.
    func silentWorkers() async -> [String]

    /// The counts of all workers, merged.
    func workerMetrics() async -> WorkerMetrics

    /// The state of each upstream, by its route.
    func upstreamHealth() async -> [RouteScope: UpstreamHealth]

    /// The numbers of reloads of the configuration.
    func reloads() async -> ReloadCounts

    /// The limits of the process, and the certificates that end.
    func capacity() async -> ProcessCapacity

    /// The last reload, if it was refused.
    func refusedReload() async -> RefusedReload?

    /// Reloads the configuration as SIGHUP does.
    ///
    /// - Returns: its warnings, a line each.
    /// - Throws: the reason why the previous configuration stays in force.
    func reload() async throws(ReloadRefusal) -> [String]

    /// Begins to drain, as SIGTERM does.
    func quit() async
}
