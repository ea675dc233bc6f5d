// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange
internal import BearerdHTTPMessages

/// Error responses for failures of the upstream, or of the way to it.
extension Rejection {
    /// The response for a failure to connect, without the upstream's address.
    init(unavailable reason: UpstreamError) {
        switch reason {
        case .connectionRefused:
            self.init(
                .upstreamConnect, "The upstream refused the connection.", proxyStatus: "connection_refused")
        case .dnsError:
            self.init(.upstreamConnect, "The upstream's name has no address.", proxyStatus: "dns_error")
        case .dnsTimeout:
            self.init(
                .upstreamTimeout, "The name servers did not answer within timeouts.connect.",
                proxyStatus: "dns_timeout")
        case .connectionTimeout:
            self.init(
                .upstreamTimeout, "Connecting to the upstream took longer than timeouts.connect.",
                proxyStatus: "connection_timeout")
        case .greetingTimeout(let greeting):
            self.init(
                .upstreamTimeout,
                "The upstream took the connection and sent no greeting of \(greeting.name) within timeouts.connect.",
                proxyStatus: "connection_timeout")
        case .tlsCertificate(let fault):
            self.init(
                .upstreamTLS, "The upstream's certificate does not verify: \(fault.reason).",
                proxyStatus: "tls_certificate_error")
        case .tlsHandshake:
            self.init(
                .upstreamTLS,
                "The TLS handshake with the upstream failed: it speaks no TLS, or wants a client certificate."
            )
        case .noCommonProtocol:
            self.init(
                .upstreamTLS, "TLS with the upstream chooses no protocol that upstream_protocol allows.")
        case .weakCipher:
            self.init(.upstreamTLS, "TLS with the upstream chooses a cipher that HTTP/2 prohibits.")
        case .otherProtocol:
            self.init(
                .upstreamProtocol,
                "The upstream takes no requests over HTTP/2, which upstream_protocol wants.",
                proxyStatus: "http_protocol_error")
        case .headTooLarge:
            self.init(
                .headersTooLarge,
                "The request head is larger than the upstream says it takes over HTTP/2.")
        case .declined:
            self.init(
                .upstreamProtocol,
                "The upstream wants this request over HTTP/1.1, where it cannot go: upstream_protocol is h2, or it is a call of gRPC, or its body is beyond replay_buffer.",
                proxyStatus: "http_protocol_error")
        case .clientCertificate(.refused):
            self.init(.upstreamTLS, "The upstream refuses the route's client certificate, or wants one.")
        case .clientCertificate(.unusable):
            self.init(.upstreamTLS, "The route's client certificate or its key cannot be used.")
        case .proxy(let failure):
            self.init(failure)
        case .busy:
            self.init(
                .upstreamBusy,
                "All of limits.upstream_connections, or of the streams that the upstream takes at once, are in use."
            )
        case .noDescriptors:
            self.init(.upstreamBusy, "No descriptor is left for a connection: raise LimitNOFILE=.")
        case .noThreads:
            self.init(
                .upstreamBusy,
                "No thread is left to ask for the upstream's name with: raise TasksMax= or pids.max.")
        case .unreachable, .cancelled, .other:
            self.init(.upstreamConnect, "The upstream cannot be reached.")
        }
    }

    /// The response for a failure of the forward proxy.
    private init(_ failure: ProxyFailure) {
        switch failure.cause {
        case .connecting(.connectionTimeout), .connecting(.dnsTimeout), .connecting(.greetingTimeout):
            self.init(
                .upstreamTimeout, "The proxy on the way took longer than timeouts.connect.",
                proxyStatus: "connection_timeout")
        case .connecting(.tlsCertificate(let fault)):
            self.init(
                .upstreamTLS, "The certificate of the proxy on the way does not verify: \(fault.reason).",
                proxyStatus: "tls_certificate_error")
        case .connecting(.dnsError):
            self.init(
                .upstreamConnect, "The name of the proxy on the way has no address.", proxyStatus: "dns_error"
            )
        case .connecting(.connectionRefused):
            self.init(
                .upstreamConnect, "The proxy on the way refused the connection.",
                proxyStatus: "connection_refused")
        case .connecting: self.init(.upstreamConnect, "The proxy on the way cannot be reached.")
        case .answered, .socks, .broken:
            self.init(.upstreamConnect, "The proxy on the way did not let us through to the upstream.")
        }
    }

    /// The response for an answer of the upstream that is no message that is accepted.
    init(answer fault: MessageFault) {
        let most = HeadLimits().maxFields
        switch fault {
        case .headTooLarge, .tooManyFields:
            self.init(
                .upstreamProtocol,
                "The head of the upstream's answer is larger than limits.header_bytes, or has more than \(most) fields.",
                proxyStatus: "http_response_header_section_size")
        case .trailersTooLarge:
            self.init(
                .upstreamProtocol,
                "The trailers of the upstream's answer are larger than limits.header_bytes, or have more than \(most) fields.",
                proxyStatus: "http_response_trailer_section_size")
        case .unknownCoding:
            self.init(
                .upstreamProtocol, "The upstream's answer has a Transfer-Encoding other than chunked.",
                proxyStatus: "http_response_transfer_coding")
        case .undecodable:
            self.init(
                .upstreamProtocol,
                "The head of the upstream's answer cannot be decoded: it breaks HPACK, or has a field larger than 64 KiB."
            )
        case .breaking(let rule):
            self.init(.upstreamProtocol, "The upstream's answer is malformed: \(rule).")
        case .malformed, .targetTooLong, .methodTooLong, .unsupportedVersion:
            self.init(.upstreamProtocol, "The upstream's answer is malformed.")
        }
    }
}
