// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPClient
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdObservability

/// A failure of the upstream, or of the way to it, for the log and the metrics.
struct UpstreamFailure {
    let label: UpstreamFailureReason
    /// Text for people: fixed words, and the address of a proxy or of `connect_to`.
    let reason: String
    /// Advice for fixing it; empty if there is none.
    var hint = ""

    /// - Parameters:
    ///   - transport: the way by which the route's upstream is reached.
    ///   - speech: what the route's upstream is spoken to in.
    ///   - hasHead: true if the head of the response had arrived.
    /// - Returns: nil if neither the upstream nor the way to it is at fault.
    init?(
        _ error: ProxyError, over transport: Transport = Transport(),
        speaking speech: UpstreamProtocol = .http1, hasHead: Bool
    ) {
        switch error {
        case .upstreamUnavailable(.busy), .upstreamUnavailable(.headTooLarge),
            .upstreamUnavailable(.cancelled):
            return nil
        case .upstreamUnavailable(let cause):
            label = UpstreamFailureReason(cause)
            reason = cause.reason(over: transport)
            hint = Self.hint(on: cause, speaking: speech, isElsewhere: transport.connectTo != nil)
        case .uploadTimedOut:
            label = .timeout
            reason = "it took nothing of the body for timeouts.stream_idle"
        case .upstreamTimedOut:
            label = .timeout
            reason = "no answer within timeouts.first_byte"
        case .answerTimedOut:
            label = .timeout
            reason = "the answer stalled for timeouts.stream_idle"
        case .upstreamProtocol:
            label = hasHead ? .truncated : .malformed
            guard !hasHead else {
                reason = "the answer broke off"
                return
            }
            reason = speech == .http2 ? "the answer is not HTTP/2, or malformed" : "the answer is not HTTP"
            hint =
                switch speech {
                case .http1: "it may speak HTTP/2 alone (upstream_protocol: h2), or want https://"
                case .http2: "look at its log, or try upstream_protocol: http1"
                case .auto: "look at its log"
                }
        case .upstreamMalformed(let fault):
            label = hasHead ? .truncated : .malformed
            let (words, advice) = Self.words(for: fault)
            reason = hasHead ? "the answer broke off: it \(words)" : "the answer \(words)"
            hint = advice
        case .upstreamHeadCut:
            label = .closed
            reason = "the connection ended inside the head of the answer"
            hint = "look at its log"
        case .upstreamSilent:
            label = hasHead ? .truncated : .timeout
            let words = "nothing came on its connection any more, not even an answer to a PING"
            reason = hasHead ? "the answer broke off: \(words)" : words
            hint = "it, or the way to it, is gone without a word"
        case .upstreamFlood(let kind):
            label = hasHead ? .truncated : .malformed
            let words = "bearerd ended the connection for a flood of what it sent: \(kind)"
            reason = hasHead ? "the answer broke off: \(words)" : words
            hint = "no upstream needs to send so much of that: look at its log"
        case .upstreamReset:
            label = .closed
            reason = "the request's stream was reset before an answer"
            hint = "look at its log"
        case .upstreamClosed:
            label = .closed
            reason = "the connection was closed or reset before an answer"
            hint =
                speech == .http1
                ? "it may want https:// or HTTP/2 (upstream_protocol: h2), or restart"
                : "it may restart, or refuse what the request holds: look at its log"
        case .malformedRequest, .unencryptedRequest, .ambiguousPath, .accessDenied, .wrongHost, .noRoute,
            .methodNotAllowed, .methodRefused, .tunnelRefused, .tunnelUnknown, .policyDenied,
            .requestTimedOut, .bodyTooLarge, .rateLimited,
            .draining, .revoked, .loopDetected, .loginRequired, .misconfigured, .providerUnavailable,
            .storeUnavailable, .clientGone:
            return nil
        }
    }

    /// The words for a fault, which follow "the answer", and advice for fixing it.
    private static func words(for fault: MessageFault) -> (String, hint: String) {
        switch fault {
        case .headTooLarge, .tooManyFields:
            (
                "has a head larger than limits.header_bytes, or with too many fields",
                "raise limits.header_bytes, or look for cookies that grow"
            )
        case .trailersTooLarge:
            (
                "has trailers larger than limits.header_bytes, or with too many fields",
                "raise limits.header_bytes"
            )
        case .undecodable:
            (
                "has a head that breaks HPACK, or a field larger than 64 KiB",
                "upstream_protocol: http1 takes fields as large as limits.header_bytes"
            )
        case .unknownCoding:
            (
                "has a Transfer-Encoding other than chunked",
                "Content-Encoding in its place is passed on as it is"
            )
        case .breaking(let rule): ("is malformed: \(rule)", "look at its log")
        case .malformed, .targetTooLong, .methodTooLong, .unsupportedVersion:
            ("is malformed", "look at its log")
        }
    }

    /// - Parameter isElsewhere: true if `connect_to` names the address that is connected to.
    private static func hint(
        on cause: UpstreamError, speaking speech: UpstreamProtocol, isElsewhere: Bool
    ) -> String {
        let key = isElsewhere ? "connect_to" : "upstream"
        return switch cause {
        case .tlsCertificate(let fault) where fault.isOfAuthority:
            "ca_file of the route names the authorities that are believed"
        case .proxy(let failure) where failure.certificateFault?.isOfAuthority == true:
            ProxyFailure.authorityAdvice
        case .connectionRefused: "start what should listen there, or mend \(key) of the route"
        case .dnsError: "mend the name in \(key) of the route, or the name server"
        case .tlsHandshake:
            "http:// in upstream of the route, if it speaks plain HTTP; client_certificate_file, if it asks for one"
        case .greetingTimeout(of: .tls): "http:// in upstream of the route, if it speaks plain HTTP"
        case .noCommonProtocol where speech != .http2:
            "upstream_protocol of the route: h2, if it speaks HTTP/2 alone"
        case .noCommonProtocol, .weakCipher, .otherProtocol:
            "upstream_protocol of the route: http1 or auto, or have the upstream speak HTTP/2"
        default: ""
        }
    }
}

extension UpstreamFailureReason {
    fileprivate init(_ error: UpstreamError) {
        self =
            switch error {
            case .connectionRefused: .refused
            case .connectionTimeout, .greetingTimeout: .connectTimeout
            case .unreachable: .unreachable
            case .dnsError, .dnsTimeout: .names
            case .tlsCertificate: .certificate
            case .tlsHandshake, .clientCertificate, .noCommonProtocol, .weakCipher: .tls
            case .otherProtocol, .declined: .malformed
            case .proxy: .proxy
            case .noDescriptors: .descriptors
            case .noThreads: .threads
            case .busy, .headTooLarge, .cancelled, .other: .other
            }
    }
}
