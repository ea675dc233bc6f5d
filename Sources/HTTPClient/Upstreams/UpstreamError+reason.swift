// SPDX-License-Identifier: Apache-2.0

extension UpstreamError {
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
        case .other(let error): error.reason
        }
    }

    /// The same, with where `connect_to` leads if it is there that something failed: the server's own name misleads.
    package func reason(over transport: Transport) -> String {
        switch self {
        case .connectionRefused, .connectionTimeout, .unreachable, .dnsError, .dnsTimeout, .tlsCertificate,
            .tlsHandshake, .other:
            transport.connectTo.map { "connect_to \($0): \(reason)" } ?? reason
        case .proxy, .clientCertificate, .noDescriptors, .noThreads, .busy, .cancelled: reason
        }
    }
}
