// SPDX-License-Identifier: Apache-2.0

/// Why no connection to an upstream could be had.
///
/// No case holds anything that the upstream sent.
package enum UpstreamError: Error, Equatable, Sendable {
    /// Nobody listens there.
    case connectionRefused
    /// Name, connection, proxy and TLS together took longer than allowed.
    case connectionTimeout
    /// No route leads there (`ENETUNREACH`, `EHOSTUNREACH`), or the Unix socket does not exist or is not ours to open.
    case unreachable
    /// The name has no address.
    case dnsError
    /// The name servers did not answer in time.
    case dnsTimeout
    /// The certificate is not for this name, has expired, or nobody whom we trust vouches for it.
    case tlsCertificate(CertificateFault)
    /// TLS failed for another reason, such as a server that wants a client certificate.
    case tlsHandshake
    /// Our own certificate or key cannot be used.
    case clientCertificate
    /// The proxy did not let us through, or cannot be reached by name.
    case proxyFailed
    /// This process, or the machine, has no descriptor left.
    case noDescriptors
    /// The system has no thread left to ask for a name with.
    case noThreads
    /// `limits.upstream_connections` are open and none came free in time.
    case busy
    /// The task that waited was cancelled.
    case cancelled
    case other(CurlError)

    /// Whether another address of the same name might do better.
    var isOfAddress: Bool {
        switch self {
        case .connectionRefused, .connectionTimeout, .unreachable, .other: true
        case .dnsError, .dnsTimeout, .tlsCertificate, .tlsHandshake, .clientCertificate, .proxyFailed,
            .noDescriptors, .noThreads, .busy, .cancelled:
            false
        }
    }

    /// Whether it is this machine that lacks something, perhaps for a moment.
    var isShortage: Bool { self == .noDescriptors || self == .noThreads }
}
