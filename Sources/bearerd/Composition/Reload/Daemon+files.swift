// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdHTTPClient
import BearerdProxy
import BearerdSystem

/// The files that are read again when they change, without a reload.
extension Daemon {
    /// How long a program may take to write a file in place.
    private static let writingTime = Duration.milliseconds(250)

    /// Judges the clients again after a change of a key or of the authorities for their certificates.
    private func judgeClientsAgain() async {
        let delay = configuration.shutdown.streamCloseDelay
        await forEachWorker { _, worker in
            await worker.judgeAgain(endingStreamsAfter: delay)
        }
    }

    /// Watches these files, except those of credentials.
    func watchFiles() {
        let files = sessions.files
        let (certificate, accessKeys, adminKey) = (active.certificate, active.accessKeys, active.adminKey)
        files.watch(certificate?.files ?? [], for: .certificate) { _ in
            certificate?.reload(on: files.executor) {
                Task(executorPreference: self.loop) { await self.judgeClientsAgain() }
            }
        }
        files.watch(Array(Set(accessKeys.flatMap(\.files))), for: .accessKey) { file in
            for key in accessKeys where key.files.contains(file) { key.reload() }
            await self.judgeClientsAgain()
        }
        files.watch(adminKey?.files ?? [], for: .adminKey) { _ in adminKey?.reload() }
        let certificates = UpstreamCertificates(configuration, sessions.trust.ownCertificates, log: log)
        files.watch(certificates.files, for: .upstreams) {
            await certificates.changed($0, on: files.executor)
        }
        let watched = configuration.reload == .watch ? [file].compactMap(\.self) : []
        files.watch(watched, for: .configuration) { _ in
            await files.executor.sleep(for: Self.writingTime)
            _ = try? await self.reload()
        }
    }
}
