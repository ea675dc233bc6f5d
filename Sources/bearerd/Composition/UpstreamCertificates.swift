// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdHTTPClient
import OAuth
import BearerdObservability
import BearerdSystem

/// Has upstreams shown the certificates of ours that are in the files now.
struct UpstreamCertificates: Sendable {
    private let certificates: [OwnCertificate]
    private let log: Log

    /// - Parameter known: has read each of them already.
    init(_ configuration: Configuration, _ known: OwnCertificates, log: Log) {
        var certificates: [OwnCertificate] = []
        for pair in configuration.distinctRoutes.compactMap(\.transport.clientCertificate) {
            let certificate = known[pair]
            if !certificates.contains(certificate) { certificates.append(certificate) }
        }
        self.certificates = certificates
        self.log = log
    }

    /// Whose change is a change of a certificate.
    var files: [String] { Array(Set(certificates.flatMap(\.files))).sorted() }

    /// Reads the pairs that a file is of; blocks the thread while they are read.
    func changed(_ file: String, on thread: ThreadExecutor) async {
        for certificate in certificates where certificate.files.contains(file) {
            if await certificate.renew(on: thread, log) {
                log.notice("client certificate changed", [.file: .string(certificate.certificateFile)])
            }
        }
    }
}

extension OwnCertificate {
    /// A certificate and its key seldom change at the same moment; one without the other is no fault yet.
    private static let patience = Duration.milliseconds(750)

    /// Reads the files, one of which has changed; blocks the thread, which is the caller's, while they are read.
    ///
    /// - Returns: whether there is a pair that can be used in them.
    func renew(on thread: ThreadExecutor, _ log: Log) async -> Bool {
        if readOwn() { return true }
        await thread.sleep(for: Self.patience)
        if readOwn() { return true }
        log.error(
            "a changed client certificate cannot be used; the one before stays",
            [.file: .string(certificateFile)])
        return false
    }

    /// Whoever may write the files decides as whom we appear.
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
    /// The certificate of a configuration.
    subscript(pair: ClientCertificate) -> OwnCertificate {
        certificate(certificateFile: pair.certificateFile, keyFile: pair.keyFile)
    }
}
