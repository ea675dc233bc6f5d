// SPDX-License-Identifier: Apache-2.0

import BearerdAdmin
import BearerdAdminAPI
import BearerdObservability
import BearerdSystem
import OAuth

/// The process as the admin listener may observe and control it.
struct DaemonControl: ProcessControl {
    let daemon: Daemon
    let writer: OutputWriter
    let audit: AppendedFile?
    let tracing: Tracing?
    let startedAt: Instant
    let startTime: WallTime

    var uptime: Duration { startedAt.duration(to: .now) }
    var droppedLogLines: Int { writer.dropped }
    var droppedAuditLines: Int { audit?.dropped ?? 0 }
    var droppedSpans: Int { tracing?.dropped ?? 0 }

    func isDraining() async -> Bool { await daemon.isDraining }
    func silentWorkers() async -> [String] { await daemon.silentWorkers() }
    func workerMetrics() async -> WorkerMetrics { await daemon.workerMetrics() }
    func upstreamHealth() async -> [RouteScope: UpstreamHealth] {
        await daemon.active.composer.upstreamHealth
    }
    func reloads() async -> ReloadCounts { await daemon.reloads }
    func capacity() async -> ProcessCapacity { await daemon.capacity }
    func refusedReload() async -> RefusedReload? { await daemon.refusedReload }
    func reload() async throws(ReloadRefusal) -> [String] { try await daemon.reload() }
    func quit() async { await daemon.shutDown() }
}
