// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdHTTPClient
import BearerdObservability
import BearerdSystem
import OAuth
import OAuthRuntime

/// Watches the files of one identity's credentials and trust.
///
/// A change ends, within a second, a back-off that the old contents caused.
struct CredentialWatch: Sendable {
    /// The files, each once.
    let files: [String]

    private let sessions: [AuthSession]
    private let transport: ProviderTransport
    private let caFile: String?
    /// True if the files hold the token itself, and not only credentials with which it is requested.
    private let isToken: Bool
    private let executor: FileExecutor
    private let log: Log

    /// - Parameter executor: reads the files.
    init(_ group: SessionGroup, on executor: FileExecutor, log: Log) {
        self.executor = executor
        let identity = group.identity
        sessions = group.members.map(\.session)
        transport = group.transport
        isToken = identity.client.source?.isReadFromFile ?? false
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

    /// Applies the current contents of a file to the sessions and the transport; blocks the thread while it
    /// is read.
    func changed(_ file: String) async {
        if let certificate = transport.ownCertificate, certificate.files.contains(file) {
            _ = await certificate.renew(on: executor, log)
        }
        if file == caFile {
            do {
                let began = ContinuousClock.now
                // Whoever may write it decides whom we show our secrets to.
                try CertificateFile.check(file)
                try transport.replaceTrust(with: TrustStore(file: file), readAt: began)
            } catch {
                return log.error(
                    "a changed CA file cannot be used; the one before stays",
                    [.file: .string(file), .reason: .string(CommandFailure(error).message)])
            }
        }
        log.info("credentials changed", [.file: .string(file)])
        for session in sessions {
            if isToken {
                try? await session.refresh(waitingAtMost: .zero)
            } else {
                await session.credentialsChanged()
            }
        }
    }
}
