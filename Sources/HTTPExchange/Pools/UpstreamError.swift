// SPDX-License-Identifier: Apache-2.0

/// No connection to the upstream could be opened.
///
/// No case holds anything that the upstream sent.
package enum UpstreamError: Error, Equatable, Sendable {
    /// Nothing listens on the upstream's port (`ECONNREFUSED`).
    case connectionRefused
    /// Name resolution, connecting, proxy and TLS together took longer than allowed.
    case connectionTimeout
    /// The server took the connection, and its first words did not come in time.
    case greetingTimeout(of: Greeting)
    /// There is no route to the address (`ENETUNREACH`, `EHOSTUNREACH`), or the Unix socket is missing or may
    /// not be opened.
    case unreachable
    /// The name has no address.
    case dnsError
    /// The name servers did not answer in time.
    case dnsTimeout
    /// The certificate is for another name, has expired, or is not signed by a trusted authority.
    case tlsCertificate(CertificateFault)
    /// TLS failed for another reason, such as a server that wants a client certificate.
    case tlsHandshake
    /// Our client certificate or its key cannot be used, or the server refuses it.
    case clientCertificate(ClientCertificateFault)
    /// The server does not speak the protocol that the handshake offers (ALPN, RFC 7301).
    case noCommonProtocol
    /// The server chooses a cipher that HTTP/2 prohibits (RFC 9113 §9.2.2).
    case weakCipher
    /// The server answers, but not in the protocol that it was spoken to in.
    case otherProtocol
    /// The server takes no head as large as the request's (RFC 9113 §6.5.2).
    case headTooLarge
    /// The server wants HTTP/1.1, of this request or of all (RFC 9113 §7, HTTP_1_1_REQUIRED), or has chosen it lately.
    case declined
    /// The forward proxy failed, or could not be reached.
    case proxy(ProxyFailure)
    /// The process, or the machine, has no descriptor left.
    case noDescriptors
    /// No thread could be started to resolve the name.
    case noThreads
    /// All of `limits.upstream_connections` are in use and none became free in time.
    case busy
    /// The task that waited was cancelled.
    case cancelled
    /// Another reason, in libcurl's words.
    case other(reason: String)

    /// The first words of a server.
    package enum Greeting: Sendable {
        /// Its side of TLS.
        case tls
        /// Its SETTINGS (RFC 9113 §3.4).
        case http2

        /// The protocol's name.
        package var name: String {
            switch self {
            case .tls: "TLS"
            case .http2: "HTTP/2"
            }
        }
    }

    /// True if another address of the same name could work.
    package var isOfAddress: Bool {
        switch self {
        case .connectionRefused, .connectionTimeout, .greetingTimeout, .unreachable, .other: true
        case .proxy(let failure):
            if case .connecting(let error) = failure.cause { error.isOfAddress } else { false }
        case .dnsError, .dnsTimeout, .tlsCertificate, .tlsHandshake, .clientCertificate,
            .noCommonProtocol, .weakCipher, .otherProtocol, .headTooLarge, .declined, .noDescriptors,
            .noThreads, .busy, .cancelled:
            false
        }
    }

    /// True if a certificate is at fault, the server's, a proxy's or ours, so that a retry will not help.
    package var isOfCertificate: Bool {
        switch self {
        case .tlsCertificate, .clientCertificate: true
        case .proxy(let failure): failure.certificateFault != nil
        case .connectionRefused, .connectionTimeout, .greetingTimeout, .unreachable, .dnsError, .dnsTimeout,
            .tlsHandshake, .noCommonProtocol, .weakCipher, .otherProtocol, .headTooLarge, .declined,
            .noDescriptors, .noThreads, .busy, .cancelled, .other:
            false
        }
    }

    /// True if this machine lacks a resource, perhaps only for a moment.
    package var isShortage: Bool { self == .noDescriptors || self == .noThreads }

    /// Text for people: fixed words, perhaps a proxy's address, and nothing that was sent or received.
    package var reason: String {
        switch self {
        case .connectionRefused: "connection refused"
        case .connectionTimeout: "connecting took too long"
        case .greetingTimeout(let greeting):
            "it took the connection and sent no greeting of \(greeting.name) in time"
        case .unreachable: "no route leads there, or there is no such socket"
        case .dnsError: "the name has no address"
        case .dnsTimeout: "the name servers did not answer"
        case .tlsCertificate(let fault): "the certificate does not verify: \(fault.reason)"
        case .tlsHandshake:
            "the TLS handshake failed: there is no TLS, or another version, or a client certificate is wanted"
        case .noCommonProtocol: "its TLS chooses no protocol that upstream_protocol allows (ALPN)"
        case .weakCipher: "its TLS chooses a cipher that HTTP/2 prohibits (RFC 9113, appendix A)"
        case .otherProtocol: "it takes no requests over HTTP/2, which upstream_protocol wants"
        case .headTooLarge: "it takes no head as large as this one"
        case .declined: "it wants HTTP/1.1"
        case .clientCertificate(let fault): fault.reason
        case .proxy(let failure): failure.reason
        case .noDescriptors: "no descriptor is left"
        case .noThreads: "no thread is left to ask for the name with"
        case .busy: "no connection came free"
        case .cancelled: "cancelled"
        case .other(let reason): reason
        }
    }
}
