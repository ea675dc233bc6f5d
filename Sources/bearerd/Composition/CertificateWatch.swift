// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import OAuth
import BearerdObservability
import Synchronization
import BearerdSystem
import BearerdTLS

/// Has listeners serve with the certificate that is in the files now.
final class CertificateWatch: Sendable {
    /// A certificate and its key seldom change at the same moment; one without the other is no fault yet.
    private static let patience = Duration.milliseconds(750)

    /// The keys of session tickets are the context's: a new one keeps recorded sessions from being opened for ever.
    private static let ticketLifetime = Duration.seconds(24 * 3600)

    let configuration: TLSConfiguration
    let tls: ServerTLS
    private let log: Log
    /// What the files were when they were last found good or bad: each of them tells of a change.
    private let judged = Mutex<[FileFingerprint?]>([])

    init(_ configuration: TLSConfiguration, tls: ServerTLS, log: Log) {
        self.configuration = configuration
        self.tls = tls
        self.log = log.with(.file, .string(configuration.certificateFile))
    }

    /// Whose change is a change of the certificate.
    var files: [String] { configuration.files }

    /// Replaces the certificate, and the keys of tickets with it, from time to time, while somebody holds it.
    func start(on thread: ThreadExecutor) { renewTickets(on: thread) }

    private func renewTickets(on thread: ThreadExecutor) {
        thread.after(Self.ticketLifetime) { [weak self] in
            self?.renewTickets(on: thread)
            self?.renew()
        }
    }

    private func renew() {
        guard let context = try? configuration.load() else {
            return log.error("the certificate cannot be used any more; the one before stays")
        }
        tls.replace(with: context)
        if context.certificate.expiresSoon {
            log.warning("the certificate expires soon", [.expires: end(of: context)])
        }
    }

    private func end(of context: ServerContext) -> LogValue {
        .string(Timestamp.text(unixSeconds: context.certificate.end))
    }

    /// Has listeners serve with what is in the files now; blocks while it is read.
    ///
    /// - Parameter changed: called when they do.
    func reload(
        on thread: ThreadExecutor, isLastTry: Bool = false, _ changed: @escaping @Sendable () -> Void
    ) {
        let files = fingerprints()
        guard judged.withLock({ $0 != files }) else { return }
        do throws(CredentialError) {
            let context = try configuration.load()
            // What was written while they were read is no change of its own.
            guard fingerprints() == files else { return reload(on: thread, isLastTry: isLastTry, changed) }
            judged.withLock { $0 = files }
            tls.replace(with: context)
            changed()
            log.notice("certificate changed", [.expires: end(of: context)])
        } catch {
            guard isLastTry else {
                return thread.after(Self.patience) { self.reload(on: thread, isLastTry: true, changed) }
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
