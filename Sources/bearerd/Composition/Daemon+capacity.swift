// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdHTTPClient
import BearerdObservability
import BearerdRouting
import BearerdSystem
import BearerdTLS

extension Daemon {
    /// The limits of the process, and the certificates that it shows to others.
    var capacity: ProcessCapacity {
        var ends: [CertificateEnd] = []
        if let certificate = active.certificate?.tls.certificate {
            ends.append(CertificateEnd(.listener, unixSeconds: certificate.end))
        }
        for identity in configuration.identities {
            if let end = end(of: identity.transport) {
                ends.append(CertificateEnd(.provider, name: identity.name, unixSeconds: end))
            }
        }
        for route in configuration.distinctRoutes {
            if let end = end(of: route.transport) {
                ends.append(CertificateEnd(.upstream, name: route.key.path, unixSeconds: end))
            }
        }
        return ProcessCapacity(
            workers: sockets.workerCount, connections: usedConnectionLimit, certificateEnds: ends)
    }

    /// Logs the certificates that end within two weeks, and those that have ended, once each.
    func tellOfCertificates() {
        let now = Int64(WallClock.secondsSinceEpoch)
        for notice in certificateNotices.news(of: capacity.certificateEnds, at: now) {
            switch notice {
            case .endsSoon(let end): log.warning("a certificate ends soon", [.reason: .string(end.warning)])
            case .hasEnded(let end):
                log.error("a certificate has ended", [.reason: .string(end.ending(at: now) ?? end.warning)])
            }
        }
    }

    /// The end of our own certificate there; nil without one.
    private func end(of transport: TransportConfiguration) -> Int64? {
        transport.clientCertificate.flatMap { sessions.trust.ownCertificates[$0].end }
    }
}
