// SPDX-License-Identifier: Apache-2.0

import Admin
import AdminAPI
import Configuration
import Cryptography
import HTTPClient
import HTTPMessages
import OAuth
import Observability
import Proxy
import System
import TLS

/// All that a reload reads, loads and binds before anything of it is in force.
struct ReloadReading: Sendable {
    /// What there is already.
    struct Known: Sendable {
        let file: String
        let configuration: Configuration
        let listeners: Set<ListenerKey>
        let workerCount: Int
        let accessKey: KeyWatch?
        let adminKey: KeyWatch?
        let trust: TrustStores
        let sandbox: SandboxOutcome
        let log: Log
    }

    let configuration: Configuration
    /// A line each.
    let warnings: [String]
    /// Of the TCP listeners; nil for plain ones.
    let certificate: ServerContext?
    let accessKey: (watch: KeyWatch, secret: Secret)?
    let adminKey: (watch: KeyWatch, secret: Secret)?
    /// Listeners that were not there before.
    let added: [(key: ListenerKey, listener: BoundListener)]
    /// The file of the audit, opened anew; nil without one.
    let audit: OpenedFile?

    /// Reads on a thread that may block.
    static func read(
        beside known: Known, on thread: ThreadExecutor
    ) async throws(ReloadRefusal) -> ReloadReading {
        let reading = Task(executorPreference: thread) { () -> Result<ReloadReading, ReloadRefusal> in
            do throws(ReloadRefusal) {
                return .success(try ReloadReading(beside: known))
            } catch {
                return .failure(error)
            }
        }
        return try await reading.value.get()
    }

    private init(beside known: Known) throws(ReloadRefusal) {
        let report = ConfigurationReport(path: known.file, environment: CurrentProcess.environment)
        guard let configuration = report.configuration else {
            throw ReloadRefusal(report, sandbox: known.sandbox)
        }
        let keys = Self.fixedKeys(from: known, to: configuration)
        guard keys.isEmpty else { throw .restartNeeded(keys: keys) }
        self.configuration = configuration
        warnings = report.lines
        do {
            certificate = try configuration.tls?.load()
            accessKey = try Self.key(configuration.access.key, known: known.accessKey, known.log)
            adminKey = try Self.key(configuration.admin?.key, known: known.adminKey, known.log)
            try known.trust.refresh(configuration.caFiles)
            for pair in configuration.ownCertificates { known.trust.ownCertificates[pair].read() }
        } catch {
            throw ReloadRefusal(CommandFailure(error).message, in: known.file)
        }
        audit = try Self.openAudit(configuration, known)
        added = try Self.bind(configuration, known)
    }

    private static func openAudit(
        _ configuration: Configuration, _ known: Known
    ) throws(ReloadRefusal) -> OpenedFile? {
        guard let path = configuration.audit?.file else { return nil }
        do throws(SystemError) {
            return try OpenedFile(appendingTo: path)
        } catch {
            if error.isPermission, case .entered(.landlock, _) = known.sandbox {
                throw .restartNeeded(keys: ["audit.file"])
            }
            throw ReloadRefusal(CommandFailure(auditing: error).message, in: known.file)
        }
    }

    private static func key(
        _ source: SecretSource?, known: KeyWatch?, _ log: Log
    ) throws(CredentialError) -> (watch: KeyWatch, secret: Secret)? {
        guard let source else { return nil }
        if let known, known.source == source { return (known, try source.read()) }
        let watch = try KeyWatch(source, log: log)
        return (watch, try source.read())
    }

    private static func bind(
        _ configuration: Configuration, _ known: Known
    ) throws(ReloadRefusal) -> [(key: ListenerKey, listener: BoundListener)] {
        var added: [(key: ListenerKey, listener: BoundListener)] = []
        for key in ListenerKey.keys(of: configuration.listen) where !known.listeners.contains(key) {
            do throws(CommandFailure) {
                let listener = try BoundListener(key.address, workers: known.workerCount, isForAll: true)
                added.append((key, listener))
            } catch {
                for (_, listener) in added {
                    listener.removeFile()
                    listener.close()
                }
                // What the sandbox forbids, only a process that begins anew may do; where there is none, nobody may.
                if case .entered(.landlock, _) = known.sandbox, error.isDenied {
                    throw .restartNeeded(keys: ["listen"])
                }
                throw ReloadRefusal("listen: \(error.message)", in: known.file)
            }
        }
        return added
    }

    /// The keys that say something else now and can only be followed by a new process.
    private static func fixedKeys(from known: Known, to new: Configuration) -> [String] {
        let old = known.configuration
        var keys: [String] = []
        if (new.workers ?? CurrentProcess.coreCount) != known.workerCount { keys.append("workers") }
        if new.store != old.store { keys.append("store") }
        if new.admin?.listen != old.admin?.listen { keys.append("admin.listen") }
        if new.development.provider != old.development.provider { keys.append("development.provider") }
        if new.development.api != old.development.api { keys.append("development.api") }
        for key in ListenerKey.keys(of: new.listen)
        where !known.listeners.contains(key) && key.address.isPassed && !keys.contains("listen") {
            keys.append("listen")
        }
        guard case .entered(.landlock(let version), let sandbox) = known.sandbox else { return keys }
        if new.runsCommands { keys.append("on_state_change") }
        if version >= Sandbox.versionForPorts, let ports = sandbox.connectPorts {
            if !(new.knownPorts?.isSubset(of: ports) ?? false) { keys += new.keys(beyond: ports) }
        }
        return keys
    }
}

extension ReloadRefusal {
    /// What is wrong with a file; where all of that is what the sandbox hides, only a restart shows it.
    fileprivate init(_ report: ConfigurationReport, sandbox: SandboxOutcome) {
        let errors = report.problems.filter { $0.severity == .error }
        if case .entered(.landlock, _) = sandbox, errors.allSatisfy({ $0.isDenial && !$0.path.isEmpty }) {
            self = .restartNeeded(keys: errors.map(\.path))
            return
        }
        self = .invalid(report.faults(.error))
    }

    /// A fault that has no place of its own in the file.
    init(_ message: String, in file: String) {
        self = .invalid([ConfigurationFault(file: file, message: message)])
    }
}

extension Configuration {
    /// Every certificate of ours.
    fileprivate var ownCertificates: Set<ClientCertificate> {
        Set((identities.map(\.transport) + routes.map(\.transport)).compactMap(\.clientCertificate))
    }

    /// Every CA file, nil for the system's where a route needs that one.
    fileprivate var caFiles: [String?] {
        let named = (identities.map(\.transport) + routes.map(\.transport)).compactMap(\.caFile)
        let tracesNeedSystem = telemetry.tracesEndpoint?.scheme == .https
        let needsSystem =
            tracesNeedSystem || routes.contains { $0.upstream.scheme == .https && $0.transport.caFile == nil }
        let providersNeedSystem = identities.contains {
            $0.client.mayUseTLS && $0.transport.caFile == nil
        }
        return named.map { $0 } + (needsSystem || providersNeedSystem ? [nil] : [])
    }
}
