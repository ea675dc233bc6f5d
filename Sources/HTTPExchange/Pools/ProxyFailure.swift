// SPDX-License-Identifier: Apache-2.0

/// What kept a proxy on the way from leading to the server, which never was asked.
package struct ProxyFailure: Equatable, Sendable {
    /// What happened.
    package enum Cause: Equatable, Sendable {
        /// There is no connection to the proxy itself, or it opened no way in time.
        indirect case connecting(UpstreamError)
        /// It answered CONNECT with this status (RFC 9110 9.3.6).
        case answered(status: Int)
        /// It refused a SOCKS request, for this reason: fixed text.
        case socks(reason: String)
        /// It hung up, or is no proxy.
        case broken
    }

    /// The proxy's `HOST:PORT`; nil where its URL is not understood.
    package let place: String?
    package let cause: Cause

    package init(at place: String?, _ cause: Cause) {
        self.place = place
        self.cause = cause
    }

    /// What is wrong with the proxy's certificate, if that is it.
    package var certificateFault: CertificateFault? {
        if case .connecting(.tlsCertificate(let fault)) = cause { fault } else { nil }
    }

    /// What a person reads of it: fixed text, and where the proxy is.
    package var reason: String { "the proxy \(place.map { "\($0): " } ?? "")\(words)" }

    /// What mends a certificate of the proxy that nobody vouches for: keys do not.
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
