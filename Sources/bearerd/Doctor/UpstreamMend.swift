// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdHTTPClient
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdSystem

/// Advice for a route whose upstream cannot be reached, by the cause.
struct UpstreamMend {
    static let protocolAdvice = "upstream_protocol: http1 or auto, or have the upstream speak HTTP/2"

    private let route: RouteConfiguration
    private let way: Transport

    init(_ route: RouteConfiguration, _ way: Transport) {
        self.route = route
        self.way = way
    }

    private var key: String { "routes[\(route.position)].upstream" }

    private var place: String { route.upstream.socketPath ?? "\(route.upstream.host):\(route.upstream.port)" }

    /// The command or the key that mends it.
    func fix(of error: TransferError) -> String {
        switch error {
        case .notConnected(let cause): fix(of: cause)
        case .malformed, .unanswered:
            route.upstream.scheme == .http
                ? "what listens at \(place) speaks no HTTP: does it want https:// in \(key)?"
                : "what listens at \(place) speaks no HTTP: mend the port in \(key)"
        case .timedOut: "look at the upstream: it takes the connection and does not answer"
        case .interrupted, .tooLarge, .cancelled, .foreign, .tooFar, .withheld, .other:
            "look at the upstream, or mend \(key)"
        }
    }

    private func fix(of error: UpstreamError) -> String {
        switch error {
        case .tlsCertificate(let fault):
            fault.isOfAuthority ? "ca_file of the route" : "the certificates of the upstream, or of the route"
        case .clientCertificate: "client_certificate_file and client_key_file of the route"
        case .proxy(let failure): failure.mend(by: "proxy of the route")
        case .noCommonProtocol, .weakCipher, .otherProtocol, .declined: Self.protocolAdvice
        case .noDescriptors, .noThreads, .busy, .cancelled: "try again: the machine was short of something"
        case _ where way.connectTo != nil: "start it, or mend connect_to of the route"
        case .dnsError, .dnsTimeout:
            "the name \(route.upstream.host) in \(key), or the servers in /etc/resolv.conf"
        case .connectionRefused where route.upstream.socketPath != nil: socketFix(isRefused: true)
        case .connectionRefused: "start what should listen at \(place), or mend the port in \(key)"
        case .greetingTimeout(of: .tls):
            "what listens at \(place) takes the connection and is silent: look at it, or mend \(key), whose https:// it may not speak"
        case .greetingTimeout(of: .http2):
            "what listens at \(place) takes the connection and is silent: look at it, or \(Self.protocolAdvice)"
        case .connectionTimeout: "a firewall on the way to \(place), or the address in \(key)"
        case .unreachable where route.upstream.socketPath != nil: socketFix(isRefused: false)
        case .unreachable: "the network on the way to \(place), or the address in \(key)"
        case .tlsHandshake:
            "if \(place) speaks plain HTTP, http:// in \(key); if it asks for a certificate, client_certificate_file of the route"
        case .headTooLarge, .other: "look at the upstream, or mend \(key)"
        }
    }

    /// A Unix socket may be missing, no socket, or not ours to connect to.
    ///
    /// - Parameter isRefused: true if we may connect, and nobody listens.
    private func socketFix(isRefused: Bool) -> String {
        guard let path = route.upstream.socketPath else { return key }
        guard let status = try? FileSystem.status(of: path) else {
            return "start what makes \(path), or mend the path in \(key), or the rights of its directory"
        }
        guard status.kind == .socket else { return "\(path) is no socket: mend the path in \(key)" }
        guard !isRefused else { return "start what should listen at \(path)" }
        return "chmod or chgrp \(path), so that uid \(CurrentProcess.effectiveUser) may write to it (mode "
            + "0\(String(status.mode, radix: 8)), uid \(status.owner))"
    }
}
