// SPDX-License-Identifier: Apache-2.0

/// The limits by which a process is judged busy, and the certificates that it has to renew, for `/metrics`.
package struct ProcessCapacity: Sendable {
    /// Event loops that serve clients.
    package var workers: Int
    /// Connections of clients that there may be at a time.
    package var connections: Int
    package var certificateEnds: [CertificateEnd]

    package init(workers: Int = 1, connections: Int = 0, certificateEnds: [CertificateEnd] = []) {
        self.workers = workers
        self.connections = connections
        self.certificateEnds = certificateEnds
    }
}
