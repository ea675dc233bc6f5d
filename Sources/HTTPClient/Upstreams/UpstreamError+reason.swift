// SPDX-License-Identifier: Apache-2.0

extension UpstreamError {
    /// What a person reads of it: fixed text, nothing of what was sent or received.
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
        case .proxyFailed: "the proxy did not let us through"
        case .noDescriptors: "no descriptor is left"
        case .noThreads: "no thread is left to ask for the name with"
        case .busy: "no connection came free"
        case .cancelled: "cancelled"
        case .other(let error): error.reason
        }
    }
}
