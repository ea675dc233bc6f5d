// SPDX-License-Identifier: Apache-2.0

import Configuration
import HTTPClient
import OAuth
import OAuthRuntime
import Observability
import System

/// Watches the files that one identity's credentials and trust come from.
///
/// A changed file ends a back-off that its old contents caused, within a second.
struct CredentialWatch: Sendable {
    private let sessions: [AuthSession]
    private let transport: ProviderTransport
    private let files: [String]
    private let caFile: String?
    private let log: Log

    init(
        _ identity: IdentityConfiguration, sessions: [AuthSession], transport: ProviderTransport, log: Log
    ) {
        self.sessions = sessions
        self.transport = transport
        self.log = log.with(.identity, .string(identity.name))
        var files: [String] = []
        for case .file(let path) in identity.credentials.values where !files.contains(path) {
            files.append(path)
        }
        if let certificate = identity.transport.clientCertificate {
            files += [certificate.certificateFile, certificate.keyFile]
        }
        caFile = identity.transport.caFile
        self.files = files + [caFile].compactMap(\.self)
    }

    /// Goes on until the process ends.
    ///
    /// - Parameter thread: reads the files.
    func start(_ watcher: FileWatcher, on thread: ThreadExecutor) {
        for file in files {
            Task(executorPreference: thread) {
                for await _ in watcher.changes(of: file) { await changed(file) }
            }
        }
    }

    private func changed(_ file: String) async {
        if file == caFile {
            do {
                // Whoever may write it decides whom we show our secrets to.
                try CertificateFile.check(file)
                try transport.replaceTrust(with: TrustStore(file: file))
            } catch {
                return log.error(
                    "a changed CA file cannot be used; the one before stays",
                    [.file: .string(file), .reason: .string(CommandFailure(error).message)])
            }
        }
        log.info("credentials changed", [.file: .string(file)])
        for session in sessions { await session.credentialsChanged() }
    }
}
