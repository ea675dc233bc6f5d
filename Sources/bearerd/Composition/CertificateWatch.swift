// SPDX-License-Identifier: Apache-2.0

import Configuration
import OAuth
import Observability
import System
import TLS

/// Has listeners serve with the certificate that is in the files now.
struct CertificateWatch: Sendable {
    /// A certificate and its key seldom change at the same moment; one without the other is no fault yet.
    private static let patience = Duration.milliseconds(750)

    /// The keys of session tickets are the context's: a new one keeps recorded sessions from being opened for ever.
    private static let ticketLifetime = Duration.seconds(24 * 3600)

    private let configuration: TLSConfiguration
    private let tls: ServerTLS
    private let log: Log

    init(_ configuration: TLSConfiguration, tls: ServerTLS, log: Log) {
        self.configuration = configuration
        self.tls = tls
        self.log = log.with(.file, .string(configuration.certificateFile))
    }

    /// Goes on until the process ends.
    ///
    /// - Parameter thread: reads the files.
    func start(_ watcher: FileWatcher, on thread: ThreadExecutor) {
        for file in configuration.files {
            let changes = watcher.changes(of: file)
            Task(executorPreference: thread) {
                for await _ in changes { reload(on: thread) }
            }
        }
        renewTickets(on: thread)
    }

    private func renewTickets(on thread: ThreadExecutor) {
        thread.after(Self.ticketLifetime) {
            renewTickets(on: thread)
            guard let context = try? configuration.load() else {
                return log.error("the certificate cannot be used any more; the one before stays")
            }
            tls.replace(with: context)
            if context.certificate.expiresSoon {
                log.warning("the certificate expires soon", [.expires: end(of: context)])
            }
        }
    }

    private func end(of context: ServerContext) -> LogValue {
        .string(Timestamp.text(unixSeconds: context.certificate.end))
    }

    private func reload(on thread: ThreadExecutor, isLastTry: Bool = false) {
        do throws(CredentialError) {
            let context = try configuration.load()
            tls.replace(with: context)
            log.notice("certificate changed", [.expires: end(of: context)])
        } catch {
            guard isLastTry else {
                return thread.after(Self.patience) { reload(on: thread, isLastTry: true) }
            }
            log.error(
                "a changed certificate cannot be used; the one before stays",
                [.reason: .string(error.reason)])
        }
    }
}
