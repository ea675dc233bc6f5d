// SPDX-License-Identifier: Apache-2.0

internal import CLibcurl

/// What kept a proxy on the way from leading to the server, which never was asked.
package struct ProxyFailure: Equatable, Sendable {
    /// What happened.
    package enum Cause: Equatable, Sendable {
        /// There is no connection to the proxy itself, or it opened no way in time.
        indirect case connecting(UpstreamError)
        /// It answered CONNECT with this status (RFC 9110 9.3.6).
        case answered(status: Int)
        /// It refused a SOCKS request, by libcurl's `CURLPX_*`.
        case socks(code: Int)
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
        case .socks(let code): Self.words(forSOCKS: code)
        case .broken: "it hung up, or is no proxy of that kind"
        }
    }

    private static func words(forSOCKS code: Int) -> String {
        switch CURLproxycode(UInt32(clamping: code)) {
        case CURLPX_REPLY_CONNECTION_REFUSED: "the server refused its connection"
        case CURLPX_REPLY_HOST_UNREACHABLE, CURLPX_REPLY_NETWORK_UNREACHABLE, CURLPX_REPLY_TTL_EXPIRED:
            "it found no way to the server, or no address of it"
        case CURLPX_REPLY_NOT_ALLOWED: "it does not allow this server"
        case CURLPX_NO_AUTH, CURLPX_USER_REJECTED, CURLPX_REQUEST_FAILED:
            "it wants a user and a password, or others"
        case CURLPX_CLOSED, CURLPX_RECV_ADDRESS, CURLPX_RECV_AUTH, CURLPX_RECV_CONNECT, CURLPX_RECV_REQACK,
            CURLPX_SEND_AUTH, CURLPX_SEND_CONNECT, CURLPX_SEND_REQUEST, CURLPX_BAD_VERSION:
            "it hung up, or is no SOCKS proxy"
        default: "it could not connect to the server"
        }
    }
}
