// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdObservability
import BearerdSystem
import BearerdTLS
import OAuth
import Synchronization

/// Keeps the listeners' certificate up to date with its files.
final class CertificateWatch: Sendable {
    /// A certificate and its key seldom change at the same moment; until this has passed a mismatch is no
    /// fault.
    private static let secondTryPause = Duration.milliseconds(750)

    /// How often the context is replaced, because its keys for session tickets would otherwise open recorded
    /// sessions for ever.
    private static let ticketLifetime = Duration.seconds(24 * 3600)

    let configuration: TLSConfiguration
    let tls: ServerTLS
    private let log: Log
    /// The fingerprints of the files at the last judgement; each file reports its own change.
    private let judged = Mutex<[FileFingerprint?]>([])

    init(_ configuration: TLSConfiguration, tls: ServerTLS, log: Log) {
        self.configuration = configuration
        self.tls = tls
        self.log = log.with(.file, .string(configuration.certificateFile))
    }

    var files: [String] { configuration.files }

    /// Replaces the certificate, and with it the keys of session tickets, at intervals while this object
    /// lives.
    func start(on executor: FileExecutor) { renewTickets(on: executor) }

    private func renewTickets(on executor: FileExecutor) {
        executor.after(Self.ticketLifetime) { [weak self] in
            self?.renewTickets(on: executor)
            self?.renew()
        }
    }

    /// Uses what a reload has read, which a change since may have made old again: the next is judged in any case.
    func use(_ context: ServerContext) {
        tls.replace(with: context)
        judged.withLock { $0 = [] }
    }

    private func renew() {
        guard let context = try? configuration.load() else {
            return log.error("the certificate cannot be used any more; the one before stays")
        }
        tls.replace(with: context)
    }

    private func end(of context: ServerContext) -> LogValue {
        .string(Timestamp.text(unixSeconds: context.certificate.end))
    }

    /// Applies the files' current certificate; blocks while it is read.
    ///
    /// - Parameter changed: called after a change.
    func reload(
        on executor: FileExecutor, isLastTry: Bool = false, _ changed: @escaping @Sendable () -> Void
    ) {
        let files = fingerprints()
        guard judged.withLock({ $0 != files }) else { return }
        do throws(CredentialError) {
            let context = try configuration.load()
            // A file that was written while they were read is no change of its own.
            guard fingerprints() == files else { return reload(on: executor, isLastTry: isLastTry, changed) }
            judged.withLock { $0 = files }
            tls.replace(with: context)
            changed()
            log.notice("certificate changed", [.expires: end(of: context)])
        } catch {
            guard isLastTry else {
                return executor.after(Self.secondTryPause) {
                    self.reload(on: executor, isLastTry: true, changed)
                }
            }
            judged.withLock { $0 = files }
            log.error(
                "a changed certificate cannot be used; the one before stays",
                [.reason: .string(error.reason)])
        }
    }

    private func fingerprints() -> [FileFingerprint?] {
        configuration.files.map { FileSystem.fingerprint(of: $0) }
    }
}
