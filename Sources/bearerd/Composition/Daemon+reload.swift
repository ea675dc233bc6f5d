// SPDX-License-Identifier: Apache-2.0

import Admin
import AdminAPI
import Configuration
import EventLoop
import HTTPClient
import HTTPServer
import OAuth
import Observability
import Proxy
import System
import TLS

/// The configuration read again, and taken over as a whole or not at all.
extension Daemon {
    /// Token requests of a session that nobody needs any more may still be waited for so much longer than a request waits.
    private static let retirement = Duration.seconds(1)
    /// A worker that takes longer to take a configuration over is left to do so when it goes on.
    private static let patience = Duration.seconds(2)
    /// Who writes a file in place may need a moment.
    private static let settling = Duration.milliseconds(250)

    /// Reads the configuration and takes it over.
    ///
    /// One at a time: who asks while one is under way gets the outcome of the next, which reads what is there by then.
    ///
    /// - Returns: warnings about the configuration, a line each.
    /// - Throws: why the one before goes on.
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
            let reading = try await ReloadReading.read(beside: known(file), on: engine.files.thread)
            try await takeOver(reading)
            told(of: nil)
            return .success(reading.report.lines)
        } catch {
            told(of: error)
            return .failure(error)
        }
    }

    private func known(_ file: String) -> ReloadReading.Known {
        ReloadReading.Known(
            file: file, configuration: configuration, listeners: Set(sockets.data.map(\.key)),
            workerCount: sockets.workerCount, accessKey: accessKey, adminKey: adminKey, trust: engine.trust,
            storeKey: storeKey, sandbox: sandbox, log: log)
    }

    /// The one place that says how a reload has ended, whoever asked for it.
    private func told(of refusal: ReloadRefusal?) {
        guard let refusal else {
            reloads.successes += 1
            reloads.lastSuccess = Double(WallClock.secondsSinceEpoch)
            log.notice("configuration reloaded", [.count: .integer(reloads.successes)])
            return manager.reloaded(complaint: nil)
        }
        reloads.failures += 1
        if case .invalid(let faults) = refusal {
            for fault in faults {
                log.error(
                    "the configuration has an error; the one before goes on",
                    [
                        .file: .string(fault.place), .reason: .string(fault.sentence),
                    ])
            }
        } else {
            log.error("the configuration was not reloaded", [.reason: .string(refusal.sentence)])
        }
        if !isDraining { manager.reloaded(complaint: refusal.sentence) }
    }

    // MARK: Taking over

    private func takeOver(_ reading: ReloadReading) async throws(ReloadRefusal) {
        let old = (engine: engine, sockets: sockets)
        let new = reading.configuration
        let keys = ListenerKey.keys(of: new.listen)
        let all = sockets.data + reading.added
        let kept = keys.compactMap { key in all.first { $0.key == key } }
        let gone = sockets.data.filter { listener in !keys.contains(listener.key) }
        let snapshot: RoutingSnapshot
        do {
            guard !isDraining else { throw ReloadRefusal.draining }
            for (index, (key, listener)) in kept.enumerated() where listener.isPassed {
                try ReloadRefusal.at(
                    reading.report.place(of: "listen[\(index)]", "listen"), of: reading.report
                ) { try listener.checkStrangers(of: key.address, new) }
            }
            let changed = try engine.changed(to: new)
            let watch = certificateWatch(of: new, reading.certificate)
            var ground = ground
            ground.listeners = kept
            ground.security = watch?.tls
            ground.accessKey = reading.accessKey?.watch.key
            if audit == nil, let file = reading.audit { audit = try AppendedFile(auditing: file, log) }
            ground.audit = audit
            let collector = try new.telemetry.destination(trust: engine.trust)
            let tracing =
                tracing
                ?? collector.map { Tracing(new.telemetry, sendingTo: $0, on: loop, log: log) }
            ground.tracing = tracing?.settings(of: new.telemetry)
            snapshot = try composer.snapshot(of: new, on: ground) { changed.session(for: $0) }
            engine = changed
            retired += old.engine.sessions(notIn: changed)  // an end that comes meanwhile waits for them
            certificate = watch
            tracing?.use(new.telemetry, sendingTo: collector)
            engine.reporter.use(tracing)
            self.tracing = tracing
        } catch {
            for (_, listener) in reading.added {
                listener.removeFile()
                listener.close()
            }
            if let refusal = error as? ReloadRefusal { throw refusal }
            throw ReloadRefusal(
                CommandFailure(error).message, at: reading.report.place(of: ""), of: reading.report)
        }
        configuration = new
        sockets.data = kept
        useSecrets(of: reading)
        log.use(level: new.log.level, format: new.log.effectiveFormat)
        if new.commandsOnStateChange != old.engine.configuration.commandsOnStateChange {
            engine.reporter.use(StateChangeHooks(new, log: log))
        }
        useConnectionLimit()
        watchFiles()
        if let file = reading.audit { audit?.use(file) }
        engine.watchCredentials()
        if let admin = sockets.admin { await redirectListeners.use(new, admin: admin.address) }
        if let adminResponder { await adminService?.use(adminResponder) }
        developmentServers?.use(new)
        // From here on the identity's state is that of those who come.
        let leaving = old.engine.sessions(notIn: engine)
        for session in leaving { session.leaveFamily() }
        for session in leaving { await session.serveWaitersOnly() }
        for session in engine.sessions(notIn: old.engine) { await session.start() }
        await swap(to: snapshot, adding: reading.added, removing: gone)
        retire(old.engine)
        await lookAtReadiness()
    }

    /// What serves the certificate of a configuration: the same as before where its files are.
    private func certificateWatch(
        of new: Configuration, _ context: ServerContext?
    ) -> CertificateWatch? {
        guard let files = new.tls, let context else { return nil }
        if let certificate, certificate.files == files.files { return certificate }
        let watch = CertificateWatch(files, tls: ServerTLS(context), log: log)
        watch.start(on: engine.files.thread)
        return watch
    }

    private func useSecrets(of reading: ReloadReading) {
        for (watch, secret) in [reading.accessKey, reading.adminKey].compactMap(\.self) {
            watch.key.replace(with: secret)
        }
        if let context = reading.certificate { certificate?.tls.replace(with: context) }
        accessKey = reading.accessKey?.watch
        adminKey = reading.adminKey?.watch
    }

    private func swap(
        to snapshot: RoutingSnapshot, adding added: [(key: ListenerKey, listener: BoundListener)],
        removing gone: [(key: ListenerKey, listener: BoundListener)]
    ) async {
        let delay = configuration.shutdown.streamCloseDelay
        gone.forEach { $0.listener.removeFile() }
        let (isDone, rest) = await eachWorker(within: Self.patience) { index, worker in
            await worker.use(snapshot, endingStreamsAfter: delay)
            for (key, listener) in added {
                for socket in listener.shares[index] {
                    await self.watch(socket, of: listener, at: key, by: worker)
                }
            }
            for (key, _) in gone { await worker.stopListening(at: key) }
        }
        for (_, listener) in added { announce(listener.address, as: "proxy") }
        guard !isDone else { return close(gone) }
        log.warning("a worker does not turn; it takes the configuration over when it does")
        Task(executorPreference: loop) {
            for task in rest { await task.value }
            await self.close(gone)
        }
    }

    private func watch(
        _ socket: ListeningSocket, of listener: BoundListener, at key: ListenerKey, by worker: Worker
    ) async {
        do {
            try await worker.listen(on: socket, at: key)
        } catch {
            log.error(
                "a worker cannot watch a new listener",
                [.address: .string("\(listener.address)"), .reason: .string(error.reason)])
        }
    }

    /// Closes listeners that no worker watches any more.
    private func close(_ gone: [(key: ListenerKey, listener: BoundListener)]) {
        for (_, listener) in gone {
            listener.close()
            log.info(
                "no longer listening",
                [.listener: "proxy", .address: .string(listener.address.description)])
        }
    }

    /// Ends the sessions that the configuration does not have any more, once no request can wait for one.
    private func retire(_ old: Engine) {
        let unneeded = old.sessions(notIn: engine)
        for group in old.groups where !engine.groups.contains(where: { $0.name == group.name }) {
            manager.identity(group.name, isIn: nil)
        }
        guard !unneeded.isEmpty else { return }
        let limit = old.configuration.timeouts.tokenWait + Self.retirement
        for session in unneeded {
            Task(executorPreference: loop) {
                await self.loop.pause(for: limit)
                await session.retire()
                await self.forget(session)
            }
        }
    }

    private func forget(_ session: AuthSession) {
        retired.removeAll { $0 === session }
        log.debug("a session of an earlier configuration has ended", [.identity: .string(session.identity)])
    }

    /// Has clients judged by a key or by authorities that are others since the configuration was taken over.
    private func judgeClientsAgain() async {
        let delay = configuration.shutdown.streamCloseDelay
        _ = await eachWorker(within: Self.patience) { _, worker in
            await worker.judgeAgain(endingStreamsAfter: delay)
        }
    }

    // MARK: Files

    /// Watches the files that are read again when they change, the credentials' left out.
    func watchFiles() {
        let files = engine.files
        let (certificate, accessKey, adminKey) = (certificate, accessKey, adminKey)
        files.watch(certificate?.files ?? [], for: .certificate) { _ in
            certificate?.reload(on: files.thread) {
                Task(executorPreference: self.loop) { await self.judgeClientsAgain() }
            }
        }
        files.watch(accessKey?.files ?? [], for: .accessKey) { _ in
            accessKey?.reload()
            await self.judgeClientsAgain()
        }
        files.watch(adminKey?.files ?? [], for: .adminKey) { _ in adminKey?.reload() }
        let certificates = UpstreamCertificates(configuration, engine.trust.ownCertificates, log: log)
        files.watch(certificates.files, for: .upstreams) { await certificates.changed($0, on: files.thread) }
        let watched = configuration.reload == .watch ? [file].compactMap(\.self) : []
        files.watch(watched, for: .configuration) { _ in
            await files.thread.sleep(for: Self.settling)
            _ = try? await self.reload()
        }
    }
}
