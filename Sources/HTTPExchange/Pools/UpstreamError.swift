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
    /// The proxy on the way, or the way to it.
    case proxy(ProxyFailure)
    /// This process, or the machine, has no descriptor left.
    case noDescriptors
    /// The system has no thread left to ask for a name with.
    case noThreads
    /// `limits.upstream_connections` are open and none came free in time.
    case busy
    /// The task that waited was cancelled.
    case cancelled
    /// Anything else, in the words of what connects.
    case other(reason: String)

    /// Whether another address of the same name might do better.
    package var isOfAddress: Bool {
        switch self {
        case .connectionRefused, .connectionTimeout, .unreachable, .other: true
        case .proxy(let failure):
            if case .connecting(let error) = failure.cause { error.isOfAddress } else { false }
        case .dnsError, .dnsTimeout, .tlsCertificate, .tlsHandshake, .clientCertificate, .noDescriptors,
            .noThreads, .busy, .cancelled:
            false
        }
    }

    /// Whether a certificate, the server's, a proxy's or ours, is at fault: asking again unchanged will not help.
    package var isOfCertificate: Bool {
        switch self {
        case .tlsCertificate, .clientCertificate: true
        case .proxy(let failure): failure.certificateFault != nil
        case .connectionRefused, .connectionTimeout, .unreachable, .dnsError, .dnsTimeout, .tlsHandshake,
            .noDescriptors, .noThreads, .busy, .cancelled, .other:
            false
        }
    }

    /// Whether it is this machine that lacks something, perhaps for a moment.
    package var isShortage: Bool { self == .noDescriptors || self == .noThreads }

    /// What a person reads of it: fixed text, perhaps a proxy's address, nothing of what was sent or received.
    package var reason: String {
        switch self {
        case .connectionRefused: "connection refused"
        case .connectionTimeout: "connecting took too long"
        case .unreachable: "no route leads there, or there is no such socket"
        case .dnsError: "the name has no address"
        case .dnsTimeout: "the name servers did not answer"
        case .tlsCertificate(let fault): "the certificate does not verify: \(fault.reason)"
        case .tlsHandshake:
            "the TLS handshake failed: there is no TLS, or another version, or a client certificate is wanted"
        case .clientCertificate: "the client certificate or its key cannot be used"
        case .proxy(let failure): failure.reason
        case .noDescriptors: "no descriptor is left"
        case .noThreads: "no thread is left to ask for the name with"
        case .busy: "no connection came free"
        case .cancelled: "cancelled"
        case .other(let reason): reason
        }
    }
}
