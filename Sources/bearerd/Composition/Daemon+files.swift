// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdHTTPClient
import BearerdProxy
import BearerdSystem

/// The files that are read again when they change, with no reload.
extension Daemon {
    /// Who writes a file in place may need a moment.
    private static let settling = Duration.milliseconds(250)

    /// Has clients judged by a key or by authorities that are others since the configuration was taken over.
    private func judgeClientsAgain() async {
        let delay = configuration.shutdown.streamCloseDelay
        await forEachWorker { _, worker in
            await worker.judgeAgain(endingStreamsAfter: delay)
        }
    }

    /// Watches the files that are read again when they change, the credentials' left out.
    func watchFiles() {
        let files = engine.files
        let (certificate, accessKeys, adminKey) = (active.certificate, active.accessKeys, active.adminKey)
        files.watch(certificate?.files ?? [], for: .certificate) { _ in
            certificate?.reload(on: files.thread) {
                Task(executorPreference: self.loop) { await self.judgeClientsAgain() }
            }
        }
        files.watch(Array(Set(accessKeys.flatMap(\.files))), for: .accessKey) { file in
            for key in accessKeys where key.files.contains(file) { key.reload() }
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
