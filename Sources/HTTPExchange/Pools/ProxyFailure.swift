// SPDX-License-Identifier: Apache-2.0

/// A forward proxy did not connect us to the upstream, which has therefore seen nothing of the request.
package struct ProxyFailure: Equatable, Sendable {
    /// The kind of failure.
    package enum Cause: Equatable, Sendable {
        /// The proxy could not be reached, or it did not connect us in time.
        indirect case connecting(UpstreamError)
        /// The proxy answered CONNECT with this status (RFC 9110 §9.3.6).
        case answered(status: Int)
        /// The proxy refused the SOCKS request; the reason is a fixed text.
        case socks(reason: String)
        /// The proxy closed the connection, or does not speak the protocol of a proxy.
        case broken
    }

    /// The proxy's `HOST:PORT`; nil if its URL cannot be parsed.
    package let place: String?
    package let cause: Cause

    package init(at place: String?, _ cause: Cause) {
        self.place = place
        self.cause = cause
    }

    /// The fault of the proxy's certificate, if that is the cause.
    package var certificateFault: CertificateFault? {
        if case .connecting(.tlsCertificate(let fault)) = cause { fault } else { nil }
    }

    /// Text for people: fixed words and the address of the proxy.
    package var reason: String { "the proxy \(place.map { "\($0): " } ?? "")\(words)" }

    /// Advice for a proxy certificate from an unknown authority, printed as a hint in the log.
    package static let authorityAdvice = "a proxy is verified against the system's CAs, never against ca_file"

    private var words: String {
        switch cause {
        case .connecting(.connectionTimeout): "it opened no way to the server in time"
        case .connecting(let error): error.reason
        case .answered(403): "it does not allow this server (403)"
        case .answered(407): "it wants a user and a password, or others (407)"
        case .answered(let status) where status >= 500: "it could not connect to the server (\(status))"
        case .answered(let status): "it answered CONNECT with \(status)"
        case .socks(let reason): reason
        case .broken: "it hung up, or is no proxy of that kind"
        }
    }
}
