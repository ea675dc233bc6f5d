// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdHTTPClient
import BearerdObservability
import BearerdSystem
import OAuth

/// Keeps our own certificates for upstreams up to date with their files.
struct UpstreamCertificates: Sendable {
    private let certificates: [OwnCertificate]
    private let log: Log

    /// - Parameter known: the certificates, which have been read once.
    init(_ configuration: Configuration, _ known: OwnCertificates, log: Log) {
        var certificates: [OwnCertificate] = []
        for pair in configuration.distinctRoutes.compactMap(\.transport.clientCertificate) {
            let certificate = known[pair]
            if !certificates.contains(certificate) { certificates.append(certificate) }
        }
        self.certificates = certificates
        self.log = log
    }

    /// The files to watch.
    var files: [String] { Array(Set(certificates.flatMap(\.files))).sorted() }

    /// Reads the certificates again to which a file belongs; blocks the thread while they are read.
    func changed(_ file: String, on executor: FileExecutor) async {
        for certificate in certificates where certificate.files.contains(file) {
            if await certificate.renew(on: executor, log) {
                log.notice("client certificate changed", [.file: .string(certificate.certificateFile)])
            }
        }
    }
}

extension OwnCertificate {
    /// A certificate and its key seldom change at the same moment; until this has passed a mismatch is no
    /// fault.
    private static let secondTryPause = Duration.milliseconds(750)

    /// Reads the files after a change; blocks the calling thread while they are read.
    ///
    /// - Returns: true if they hold a usable pair.
    func renew(on executor: FileExecutor, _ log: Log) async -> Bool {
        if readOwn() { return true }
        await executor.sleep(for: Self.secondTryPause)
        if readOwn() { return true }
        log.error(
            "a changed client certificate cannot be used; the one before stays",
            [.file: .string(certificateFile)])
        return false
    }

    /// Reads the files if their owners are trusted, because the owner decides as whom we authenticate.
    private func readOwn() -> Bool {
        do throws(CredentialError) {
            for file in files { try CertificateFile.checkOwner(of: file) }
            return read()
        } catch {
            return false
        }
    }
}

extension OwnCertificates {
    /// The certificate for a pair of files in the configuration.
    subscript(pair: ClientCertificate) -> OwnCertificate {
        certificate(certificateFile: pair.certificateFile, keyFile: pair.keyFile)
    }
}
