// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange
internal import CBearerdLibcurl
internal import Glibc

extension UpstreamError {
    /// Classifies the error of a failed `CURLOPT_CONNECT_ONLY` transfer.
    init(_ code: CURLcode, of transfer: CurlTransfer) {
        if let alert = transfer.attachments.certificateAlert, code != CURLE_OPERATION_TIMEDOUT,
            transfer.easy.number(CURLINFO_RESPONSE_CODE) == 0
        {
            self = .clientCertificate(.refused(alert))
            return
        }
        self.init(
            code, of: transfer.easy, socketError: transfer.attachments.socketError,
            hasMetServer: transfer.attachments.hasMetServer)
        guard !isShortage, transfer.failedAtProxy(code) else { return }
        self = .proxy(
            ProxyFailure(
                at: transfer.attachments.proxy?.address.description,
                ProxyFailure.Cause(code, self, of: transfer.easy)))
    }

    private init(
        _ code: CURLcode, of easy: borrowing CurlEasy, socketError: CInt, hasMetServer: Bool
    ) {
        switch code {
        case CURLE_COULDNT_CONNECT where socketError == EMFILE || socketError == ENFILE:
            self = .noDescriptors
        case CURLE_COULDNT_RESOLVE_HOST where Self.descriptorsAreShort,
            CURLE_COULDNT_RESOLVE_PROXY where Self.descriptorsAreShort,
            CURLE_OUT_OF_MEMORY where Self.descriptorsAreShort:
            self = .noDescriptors
        case CURLE_COULDNT_RESOLVE_HOST where Self.threadsAreShort,
            CURLE_COULDNT_RESOLVE_PROXY where Self.threadsAreShort,
            CURLE_OUT_OF_MEMORY where Self.threadsAreShort:
            self = .noThreads
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            self = .dnsError
        case CURLE_OPERATION_TIMEDOUT:
            self =
                hasMetServer
                ? .greetingTimeout(of: .tls)
                : easy.microseconds(CURLINFO_NAMELOOKUP_TIME_T) == 0 ? .dnsTimeout : .connectionTimeout
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR:
            self = .tlsCertificate(CertificateFault(of: easy))
        case CURLE_SSL_CACERT_BADFILE:
            self = .tlsCertificate(.unknownAuthority)
        case CURLE_SSL_CERTPROBLEM:
            self = .clientCertificate(.unusable)
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED:
            self = .tlsHandshake
        case CURLE_COULDNT_CONNECT:
            self.init(errno: CInt(easy.number(CURLINFO_OS_ERRNO)), code)
        default:
            self = .other(reason: CurlError(code).reason)
        }
    }

    private init(errno: CInt, _ code: CURLcode) {
        switch errno {
        case ECONNREFUSED: self = .connectionRefused
        case ECONNRESET: self = .other(reason: "it took the connection and reset it at once")
        case ETIMEDOUT: self = .connectionTimeout
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, ENOENT, EACCES, EPERM, EADDRNOTAVAIL:
            self = .unreachable
        default: self = .other(reason: CurlError(code).reason)
        }
    }

    /// True if no thread can be started; the resolver needs one and does not say why it failed.
    private static var threadsAreShort: Bool {
        var thread = pthread_t()
        guard pthread_create(&thread, nil, { _ in nil }, nil) == 0 else { return true }
        pthread_detach(thread)
        return false
    }

    /// True if no descriptor can be opened; the resolver needs one and does not say why it failed.
    private static var descriptorsAreShort: Bool {
        let probe = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
        guard probe >= 0 else { return errno == EMFILE || errno == ENFILE }
        close(probe)
        return false
    }
}

extension CurlTransfer {
    /// True if the proxy, or the way to it, caused `code`, so that the server itself was not reached.
    fileprivate func failedAtProxy(_ code: CURLcode) -> Bool {
        if code == CURLE_PROXY || code == CURLE_COULDNT_RESOLVE_PROXY { return true }
        let answer = easy.number(CURLINFO_HTTP_CONNECTCODE)
        guard let proxy = attachments.proxy, !attachments.hasMetServer, !isSent, !(200..<300).contains(answer)
        else { return false }
        // no_proxy may exempt the server from the environment's; only the port then tells who was connected to.
        return attachments.transport?.proxy != .environment || answer > 0
            || attachments.port == proxy.address.port || (attachments.port == 0 && proxy.isSOCKS)
    }
}

extension ProxyFailure.Cause {
    /// - Parameter error: the meaning of `code` without a proxy.
    fileprivate init(_ code: CURLcode, _ error: UpstreamError, of easy: borrowing CurlEasy) {
        let status = easy.number(CURLINFO_HTTP_CONNECTCODE)
        self =
            switch error {
            case _ where status > 0: .answered(status: status)
            case _ where code == CURLE_PROXY:
                .socks(reason: Self.words(forSOCKS: easy.number(CURLINFO_PROXY_ERROR)))
            case .other where code != CURLE_COULDNT_CONNECT: .broken
            default: .connecting(error)
            }
    }

    /// The meaning of a proxy's reply to a SOCKS request.
    ///
    /// - Parameter code: one of libcurl's `CURLPX_*`.
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

extension CertificateFault {
    /// The fault of the certificate that failed a transfer: the server's, or else the proxy's.
    fileprivate init(of easy: borrowing CurlEasy) {
        let server = easy.number(CURLINFO_SSL_VERIFYRESULT)
        let result = server == 0 ? easy.number(CURLINFO_PROXY_SSL_VERIFYRESULT) : server
        self.init(verifyResult: Int32(truncatingIfNeeded: result))
    }
}
