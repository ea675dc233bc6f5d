// SPDX-License-Identifier: Apache-2.0

import BearerdAdmin
import BearerdAdminAPI
import BearerdConfiguration
import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPServer
import BearerdObservability
import BearerdProxy
import BearerdSystem
import BearerdTLS
import OAuth

/// A reload: another configuration is prepared beside the one in force, and then committed as a whole, or not at all.
extension Daemon {
    /// Reads the configuration and takes it over.
    ///
    /// One at a time: who asks while one is under way gets the outcome of the next, which reads what is there by then.
    ///
    /// - Returns: warnings about the configuration, a line each.
    /// - Throws: why the old one stays in force.
    func reload() async throws(ReloadRefusal) -> [String] {
        if let pendingReload { return try await pendingReload.value.get() }
        let before = currentReload
        let task = Task(executorPreference: loop) { () -> Result<[String], ReloadRefusal> in
            _ = await before?.value
            await self.untilStarted()
            return await self.runPendingReload()
        }
        pendingReload = task
        return try await task.value.get()
    }

    private func runPendingReload() async -> Result<[String], ReloadRefusal> {
        currentReload = pendingReload
        pendingReload = nil
        do throws(ReloadRefusal) {
            guard !isDraining else { throw .draining }
            guard let file else { throw .noFile }
            manager.reloading()
            let prepared = try await prepare(file)
            await commit(prepared)
            reloadEnded(nil)
            let warnings = prepared.files.report.lines
            log.callOut(warnings)
            return .success(warnings)
        } catch {
            reloadEnded(error)
            return .failure(error)
        }
    }

    /// Counts, logs and announces the end of a reload, whoever asked for it; nil for one that succeeded.
    private func reloadEnded(_ refusal: ReloadRefusal?) {
        guard let refusal else {
            refusedReload = nil
            reloads.successes += 1
            reloads.lastSuccess = Double(WallClock.secondsSinceEpoch)
            log.notice("configuration reloaded", [.count: .integer(reloads.successes)])
            return manager.reloaded(complaint: nil)
        }
        reloads.failures += 1
        refusedReload = refusal.record(at: WallTime(sinceEpoch: WallClock.sinceEpoch)) ?? refusedReload
        if case .invalid(let faults) = refusal {
            for fault in faults {
                log.error(
                    "the configuration has an error; the old one is in force",
                    [
                        .file: .string(fault.place), .reason: .string(fault.sentence),
                    ])
            }
        } else {
            log.error("the configuration was not reloaded", [.reason: .string(refusal.sentence)])
        }
        if !isDraining { manager.reloaded(complaint: refusal.sentence) }
    }

    // MARK: Prepare

    /// Makes all that another configuration needs, and leaves what is in force as it is.
    private func prepare(_ file: String) async throws(ReloadRefusal) -> PreparedReload {
        let files = try await PreparedFiles.read(
            beside: .init(
                file: file, configuration: configuration, listeners: active.listeners,
                workerCount: sockets.workerCount, accessKeys: active.accessKeys, adminKey: active.adminKey,
                trust: sessions.trust, watched: sessions.files, storeKey: storeKey, sandbox: sandbox,
                runsTokenCommands: sessions.commands != nil, log: log),
            on: sessions.files.executor, loop: loop)
        do {
            let certificate = certificate(by: files)
            if let failure = await watch(files.added, security: certificate?.tls) {
                throw ReloadRefusal(failure.message, at: files.report.place(of: "listen"), of: files.report)
            }
            guard !isDraining else { throw ReloadRefusal.draining }
            return try prepared(files, certificate)
        } catch {
            await forEachWorker { index, worker in
                for (key, listener) in files.added {
                    await worker.stopListening(at: key, on: listener.shares[index])
                }
            } finally: {
                files.abandon()
            }
            if let refusal = error as? ReloadRefusal { throw refusal }
            throw ReloadRefusal(
                CommandFailure(error).message, at: files.report.place(of: ""), of: files.report)
        }
    }

    private func prepared(
        _ files: PreparedFiles, _ certificate: CertificateWatch?
    ) throws -> PreparedReload {
        let new = files.configuration
        let collector = try new.telemetry.destination(trust: sessions.trust)
        // A writer without a file writes nothing, so it may stay whatever comes of the reload.
        if files.audit != nil, audit == nil { audit = try AppendedFile(tellingOfAudit: log) }
        var next = ActiveConfiguration(
            configuration: new, sessions: try sessions.changed(to: new), listeners: files.listeners,
            certificate: certificate, accessKeys: files.accessKeys.map(\.watch),
            adminKey: files.adminKey?.watch,
            tracing: active.tracing
                ?? collector.map { Tracing(new.telemetry, sendingTo: $0, on: loop, log: log) },
            composer: active.composer)
        let snapshot = try snapshot(by: &next)
        let isChanged = new.commandsOnStateChange != configuration.commandsOnStateChange
        return PreparedReload(
            files: files, active: next, snapshot: snapshot, collector: collector,
            hooks: (isChanged, isChanged ? StateChangeHooks(new, log: log) : nil),
            developmentClients: developmentServers?.clients(of: new) ?? [])
    }

    /// The watched certificate of the new configuration; the current one if its files are the same.
    private func certificate(by files: PreparedFiles) -> CertificateWatch? {
        guard let settings = files.configuration.tls, let context = files.certificate else { return nil }
        if let known = active.certificate, known.files == settings.files { return known }
        return CertificateWatch(settings, tls: ServerTLS(context), log: log)
    }

    /// Has every worker watch new listeners; who connects before the commit waits for it.
    ///
    /// - Returns: why one of them could not.
    private func watch(
        _ added: [(key: ListenerKey, listener: BoundListener)], security: ServerTLS?
    ) async -> CommandFailure? {
        guard !added.isEmpty else { return nil }
        let number = listenerWatch.number + 1
        listenerWatch = (number, nil)
        await forEachWorker { index, worker in
            for (key, listener) in added {
                for socket in listener.shares[index] {
                    do throws(StreamError) {
                        try await worker.listen(on: socket, at: key, security: security)
                    } catch {
                        await self.refused(CommandFailure(error, watching: listener.address), by: number)
                    }
                }
            }
        }
        return listenerWatch.failure
    }

    /// - Parameter number: of the watch; a worker that stood still may tell of an earlier one.
    private func refused(_ failure: CommandFailure, by number: Int) {
        if number == listenerWatch.number { listenerWatch.failure = listenerWatch.failure ?? failure }
        log.error("a worker cannot watch a new listener", [.reason: .string(failure.message)])
    }

    // MARK: Commit

    /// Puts a configuration in force that was prepared; nothing here can fail.
    private func commit(_ reload: PreparedReload) async {
        let (before, files, new) = (active, reload.files, reload.files.configuration)
        active = reload.active
        before.composer.retireUpstreams(notIn: active.composer)
        active.composer.limitUpstreams()
        // An end that comes meanwhile waits for them.
        retired += before.sessions.sessions(notIn: sessions)

        // Objects that outlive a configuration get the new keys, certificates and files.
        if let context = files.certificate { active.certificate?.use(context) }
        for key in files.accessKeys + [files.adminKey].compactMap(\.self) { key.commit() }
        files.ownCertificates.forEach { $0.commit() }
        if let file = files.audit { audit?.use(file) }
        log.use(level: new.log.level, format: new.log.effectiveFormat)
        active.tracing?.use(new.telemetry, sendingTo: reload.collector)
        sessions.reporter.use(active.tracing)
        if reload.hooks.isChanged { sessions.reporter.use(reload.hooks.new) }
        developmentServers?.use(reload.developmentClients)
        useConnectionLimit()
        if active.certificate !== before.certificate {
            active.certificate?.start(on: sessions.files.executor)
        }
        watchFiles()
        sessions.watchCredentials()

        // The admin listener, then sessions, then requests.
        if let admin = sockets.admin, let adminResponder {
            await redirectListeners.use(new, admin: admin.address, answering: adminResponder)
            await adminService?.use(adminResponder)
        }
        await replaceSessions(of: before.sessions)
        files.removed.forEach { $0.listener.removeFile() }
        await forEachWorker { index, worker in
            await worker.use(reload.snapshot, endingStreamsAfter: new.shutdown.streamCloseDelay)
            for (key, listener) in files.removed {
                await worker.stopListening(at: key, on: listener.shares[index])
            }
        } finally: {
            await self.close(files.removed)
        }
        for (_, listener) in files.added { announce(listener.address, as: "proxy") }
        retire(before.sessions)
        await lookAtReadiness()
    }

    /// Closes listeners that no worker watches any more.
    private func close(_ removed: [(key: ListenerKey, listener: BoundListener)]) {
        for (_, listener) in removed {
            listener.close()
            log.info(
                "no longer listening",
                [.listener: "proxy", .address: .string(listener.address.description)])
        }
    }
}
