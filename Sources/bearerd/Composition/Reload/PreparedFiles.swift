// SPDX-License-Identifier: Apache-2.0

import BearerdAdmin
import BearerdAdminAPI
import BearerdConfiguration
import BearerdCryptography
import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPMessages
import BearerdObservability
import BearerdProxy
import BearerdSystem
import BearerdTLS
import OAuth

/// The part of a reload's preparation that may block: reading, loading, opening and binding.
///
/// Nothing of it is in force; ``abandon()`` undoes what others can see.
struct PreparedFiles: Sendable {
    /// The current state.
    struct Known: Sendable {
        let file: String
        let configuration: Configuration
        let listeners: [(key: ListenerKey, listener: BoundListener)]
        let workerCount: Int
        let accessKeys: [KeyWatch]
        let adminKey: KeyWatch?
        let trust: TrustStores
        /// The watch on the files that are read.
        let watched: WatchedFiles
        /// The store's key, unless it is in the Secret Service; nil without one.
        let storeKey: Secret?
        let sandbox: SandboxOutcome
        /// True if programs that print tokens can be run.
        let runsTokenCommands: Bool
        let log: Log

        func has(_ key: ListenerKey) -> Bool { listeners.contains { $0.key == key } }
    }

    let configuration: Configuration
    /// The report on the configuration file.
    let report: ConfigurationReport
    /// The TLS context of the TCP listeners; nil if they are plain.
    let certificate: ServerContext?
    let accessKeys: [KeyWatch.Reading]
    let adminKey: KeyWatch.Reading?
    /// Our own certificates for providers and upstreams, if their files are usable.
    let ownCertificates: [OwnCertificate.Renewal]
    /// The listeners of the configuration, in its order.
    let listeners: [(key: ListenerKey, listener: BoundListener)]
    /// The listeners that are new, or bound anew.
    let added: [(key: ListenerKey, listener: BoundListener)]
    /// The listeners that the new configuration no longer has, and those that were bound anew.
    let removed: [(key: ListenerKey, listener: BoundListener)]
    /// The file of the audit, opened anew; nil without one.
    let audit: OpenedFile?

    /// How long reading may take, though looking up the names of some listeners does.
    private static let preparationLimit = Duration.seconds(30)

    /// Prepares on a thread that may block.
    ///
    /// A reading that has not come back in time is undone when it does, so that a later reload may do without it.
    static func read(
        beside known: Known, on executor: FileExecutor, loop: EventLoop
    ) async throws(ReloadRefusal) -> PreparedFiles {
        // Those that do not come back keep a thread each.
        guard known.watched.beginPreparation() else {
            throw .invalid([
                ConfigurationFault(
                    file: known.file,
                    message: "is not read: earlier reloads still wait for files that do not answer")
            ])
        }
        let reading = Task(executorPreference: executor) { () -> Result<PreparedFiles, ReloadRefusal> in
            defer { known.watched.endPreparation() }
            do throws(ReloadRefusal) {
                return .success(try PreparedFiles(beside: known))
            } catch {
                return .failure(error)
            }
        }
        if let outcome = await loop.value(within: preparationLimit, of: { await reading.value }) {
            return try outcome.get()
        }
        _ = Task(executorPreference: loop) {
            if case .success(let late) = await reading.value { late.abandon() }
        }
        throw .invalid([
            ConfigurationFault(
                file: known.file,
                message:
                    "it, or a file or host name in it, could not be read within \(preparationLimit.inSeconds)"
            )
        ])
    }

    private init(beside known: Known) throws(ReloadRefusal) {
        known.watched.remember([known.file])
        let report = ConfigurationReport(path: known.file, environment: CurrentProcess.environment)
        guard let configuration = report.configuration else {
            throw ReloadRefusal(report, sandbox: known.sandbox)
        }
        let beyond = Self.keysBeyondPorts(from: known, to: configuration)
        let fixed = Self.fixedKeys(from: known, to: configuration) + beyond
        guard fixed.isEmpty else {
            throw .restartNeeded(keys: fixed, advice: beyond.isEmpty ? "" : Self.portAdvice)
        }
        guard Self.isStoreKey(known.storeKey, of: configuration) else {
            throw .restartNeeded(
                keys: [report.place(ofSecret: "store.encryption_key").key], advice: Self.keyAdvice)
        }
        known.watched.remember(configuration.files)
        self.configuration = configuration
        self.report = report
        let tls = report.place(of: "tls")
        certificate = try ReloadRefusal.at(tls, of: report) { try configuration.tls?.load() }
        accessKeys = try configuration.access.keys.map { key throws(ReloadRefusal) in
            try ReloadRefusal.at(report.place(ofSecret: key.path), of: report) {
                try Self.key(key.source, known: known.accessKeys, known.log)
            }
        }
        adminKey = try configuration.admin?.key.map { key throws(ReloadRefusal) in
            try ReloadRefusal.at(report.place(ofSecret: "admin.key"), of: report) {
                try Self.key(key, known: [known.adminKey].compactMap(\.self), known.log)
            }
        }
        for (file, key) in configuration.caFiles {
            try ReloadRefusal.at(report.place(of: key), of: report) { try known.trust.refresh([file]) }
        }
        ownCertificates = configuration.ownCertificates.compactMap {
            known.trust.ownCertificates[$0].renewal()
        }
        let keys = ListenerKey.keys(of: configuration.listen)
        removed = known.listeners.filter { !keys.contains($0.key) || !$0.listener.hasItsName }
        for (index, key) in keys.enumerated() {
            guard let listener = known.listeners.first(where: { $0.key == key })?.listener,
                listener.isPassed
            else { continue }
            try ReloadRefusal.at(report.place(of: "listen[\(index)]", "listen"), of: report) {
                try listener.checkStrangers(of: key.address, configuration)
            }
        }
        audit = try Self.openAudit(configuration, known, report)
        // Last, because others see it.
        let added: [(key: ListenerKey, listener: BoundListener)]
        do throws(ReloadRefusal) {
            added = try Self.bind(configuration, known, without: removed.map(\.key), report)
        } catch {
            audit?.undo()
            throw error
        }
        listeners = keys.compactMap { key in (added + known.listeners).first { $0.key == key } }
        self.added = added
    }

    /// Closes the new listeners, and removes a new file; call it when no worker watches them any more.
    func abandon() {
        audit?.undo()
        Self.close(added)
    }

    private static func close(_ added: [(key: ListenerKey, listener: BoundListener)]) {
        for (_, listener) in added {
            listener.removeFile()
            listener.close()
        }
    }

    /// The advice for a store key that differs from the one in use.
    private static let portAdvice =
        "The sandbox lets this process connect to no other ports than those that it was started for."

    private static let keyAdvice =
        "What is stored can be read with the key before alone: put that back, or have the restart begin with an empty store, and log in again."

    /// Returns true if the store's key is the one with which it was opened, however it is written.
    private static func isStoreKey(_ known: Secret?, of configuration: Configuration) -> Bool {
        // A key that cannot be read has been reported with its file.
        guard let known, let key = try? configuration.store.givenKey?.read() else { return true }
        return SealingKey.bytes(of: key).map { known.matches($0.plaintextBytes) } ?? false
    }

    private static func openAudit(
        _ configuration: Configuration, _ known: Known, _ report: ConfigurationReport
    ) throws(ReloadRefusal) -> OpenedFile? {
        guard let path = configuration.audit?.file else { return nil }
        do throws(OpenedFile.Refusal) {
            return try OpenedFile(appendingTo: path)
        } catch {
            if error.isPermission, case .entered(.landlock, _) = known.sandbox {
                throw .restartNeeded(keys: ["audit.file"])
            }
            throw ReloadRefusal(error.reason, at: report.place(of: "audit.file"), of: report)
        }
    }

    private static func key(
        _ source: SecretSource, known: [KeyWatch], _ log: Log
    ) throws(CredentialError) -> KeyWatch.Reading {
        if let known = known.first(where: { $0.source == source }) { return try known.read() }
        return try KeyWatch(source, log: log).read()
    }

    private static func bind(
        _ configuration: Configuration, _ known: Known, without removed: [ListenerKey],
        _ report: ConfigurationReport
    ) throws(ReloadRefusal) -> [(key: ListenerKey, listener: BoundListener)] {
        var added: [(key: ListenerKey, listener: BoundListener)] = []
        for (index, key) in ListenerKey.keys(of: configuration.listen).enumerated()
        where !known.has(key) || removed.contains(key) {
            do throws(CommandFailure) {
                let listener = try BoundListener(key.address, workers: known.workerCount, isForAll: true)
                added.append((key, listener))
            } catch {
                close(added)
                // Only a new process may do what the sandbox forbids; without a sandbox nobody may.
                if case .entered(.landlock, _) = known.sandbox, error.isDenied {
                    throw .restartNeeded(keys: ["listen"])
                }
                throw ReloadRefusal(
                    error.message, at: report.place(of: "listen[\(index)]", "listen"), of: report)
            }
        }
        return added
    }

    /// The changed keys that need a restart.
    private static func fixedKeys(from known: Known, to new: Configuration) -> [String] {
        let old = known.configuration
        var keys: [String] = []
        if (new.workers ?? CurrentProcess.coreCount) != known.workerCount { keys.append("workers") }
        if new.store != old.store { keys.append("store") }
        if new.admin?.listen != old.admin?.listen { keys.append("admin.listen") }
        if new.development.provider != old.development.provider { keys.append("development.provider") }
        if new.development.api != old.development.api { keys.append("development.api") }
        for key in ListenerKey.keys(of: new.listen)
        where !known.has(key) && key.address.isPassed && !keys.contains("listen") {
            keys.append("listen")
        }
        // Their helper is made before the sandbox, or not at all.
        if !known.runsTokenCommands {
            keys += new.commandIdentities.map { "identities.\($0.name).command" }
        }
        if case .entered(.landlock, _) = known.sandbox, new.runsCommands { keys.append("on_state_change") }
        return keys
    }

    /// The keys that name servers at ports to which the sandbox lets nobody connect.
    private static func keysBeyondPorts(from known: Known, to new: Configuration) -> [String] {
        guard case .entered(.landlock(let version), let sandbox) = known.sandbox,
            version >= Sandbox.versionForPorts, let ports = sandbox.connectPorts,
            !(new.knownPorts?.isSubset(of: ports) ?? false)
        else { return [] }
        return new.keys(beyond: ports)
    }
}

extension ReloadRefusal {
    /// The refusal of a file with errors; if only the sandbox causes them, a restart is needed.
    fileprivate init(_ report: ConfigurationReport, sandbox: SandboxOutcome) {
        let errors = report.problems.filter { $0.severity == .error }
        if case .entered(.landlock, _) = sandbox, errors.allSatisfy(\.isDenial) {
            self = .restartNeeded(
                keys: errors.map(\.path).filter { !$0.isEmpty },
                advice: errors.map { $0.path.isEmpty ? "\(report.file) \($0.reason)" : $0.reason }
                    .joined(separator: "; ") + ".")
            return
        }
        self = .invalid(report.faults(.error))
    }

    /// The refusal for an error that shows when a file is opened or a socket bound.
    init(_ message: String, at place: ConfigurationPlace, of report: ConfigurationReport) {
        self = .invalid([
            ConfigurationFault(
                file: report.file, line: place.line, column: place.column, key: place.key,
                message: message)
        ])
    }

    /// Runs `body` and names the key if it fails.
    static func at<Value>(
        _ place: ConfigurationPlace, of report: ConfigurationReport, _ body: () throws -> Value
    ) throws(ReloadRefusal) -> Value {
        do {
            return try body()
        } catch {
            throw ReloadRefusal(CommandFailure(error).message, at: place, of: report)
        }
    }
}

extension Configuration {
    /// The client certificates of identities and routes.
    fileprivate var ownCertificates: Set<ClientCertificate> {
        Set((identities.map(\.transport) + routes.map(\.transport)).compactMap(\.clientCertificate))
    }

    /// The CA files, each with its key; nil stands for the system's bundle if it is needed.
    fileprivate var caFiles: [(file: String?, key: String)] {
        let keys =
            identities.map { ($0.transport.caFile, "identities.\($0.name).ca_file") }
            + routes.map { ($0.transport.caFile, "routes[\($0.position)].ca_file") }
        let named = keys.filter { $0.0 != nil }.map { (file: $0.0, key: $0.1) }
        let tracesNeedSystem = telemetry.tracesEndpoint?.scheme == .https
        let needsSystem =
            tracesNeedSystem || routes.contains { $0.upstream.scheme == .https && $0.transport.caFile == nil }
        let providersNeedSystem = identities.contains {
            $0.client.mayUseTLS && $0.transport.caFile == nil
        }
        return named + (needsSystem || providersNeedSystem ? [(file: nil, key: "")] : [])
    }
}
