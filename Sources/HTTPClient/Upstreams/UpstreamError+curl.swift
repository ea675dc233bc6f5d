// SPDX-License-Identifier: Apache-2.0

internal import CLibcurl
internal import Glibc

extension UpstreamError {
    /// Judges a `CURLOPT_CONNECT_ONLY` transfer that has failed.
    init(_ code: CURLcode, of transfer: CurlTransfer) {
        self.init(code, of: transfer.easy, socketError: transfer.attachments.socketError)
    }

    private init(_ code: CURLcode, of easy: borrowing CurlEasy, socketError: CInt) {
        switch code {
        case CURLE_COULDNT_CONNECT where socketError == EMFILE || socketError == ENFILE:
            self = .noDescriptors
        case CURLE_COULDNT_RESOLVE_HOST where Self.descriptorsAreShort,
            CURLE_OUT_OF_MEMORY where Self.descriptorsAreShort:
            self = .noDescriptors
        case CURLE_COULDNT_RESOLVE_HOST where Self.threadsAreShort,
            CURLE_OUT_OF_MEMORY where Self.threadsAreShort:
            self = .noThreads
        case CURLE_COULDNT_RESOLVE_HOST:
            self = .dnsError
        case CURLE_OPERATION_TIMEDOUT:
            self = easy.microseconds(CURLINFO_NAMELOOKUP_TIME_T) == 0 ? .dnsTimeout : .connectionTimeout
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR:
            self = .tlsCertificate(CertificateFault(of: easy))
        case CURLE_SSL_CACERT_BADFILE:
            self = .tlsCertificate(.unknownAuthority)
        case CURLE_SSL_CERTPROBLEM:
            self = .clientCertificate
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED:
            self = .tlsHandshake
        case CURLE_PROXY, CURLE_COULDNT_RESOLVE_PROXY:
            self = .proxyFailed
        case CURLE_RECV_ERROR where easy.number(CURLINFO_HTTP_CONNECTCODE) >= 300:
            self = .proxyFailed
        case CURLE_COULDNT_CONNECT:
            self.init(errno: CInt(easy.number(CURLINFO_OS_ERRNO)), code)
        default:
            self = .other(CurlError(code))
        }
    }

    private init(errno: CInt, _ code: CURLcode) {
        switch errno {
        case ECONNREFUSED, ECONNRESET: self = .connectionRefused
        case ETIMEDOUT: self = .connectionTimeout
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, ENOENT, EACCES, EPERM, EADDRNOTAVAIL:
            self = .unreachable
        default: self = .other(CurlError(code))
        }
    }

    /// Whether the process gets no thread, as the resolver needs: it does not say why it failed.
    private static var threadsAreShort: Bool {
        var thread = pthread_t()
        guard pthread_create(&thread, nil, { _ in nil }, nil) == 0 else { return true }
        pthread_detach(thread)
        return false
    }

    /// Whether the process can open no descriptor: the resolver does not say why it failed.
    private static var descriptorsAreShort: Bool {
        let probe = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
        guard probe >= 0 else { return errno == EMFILE || errno == ENFILE }
        close(probe)
        return false
    }
}

extension CertificateFault {
    /// What was wrong with the certificate that a transfer failed for: the server's, or that of a proxy on the way.
    fileprivate init(of easy: borrowing CurlEasy) {
        let server = easy.number(CURLINFO_SSL_VERIFYRESULT)
        let result = server == 0 ? easy.number(CURLINFO_PROXY_SSL_VERIFYRESULT) : server
        self.init(verifyResult: Int32(truncatingIfNeeded: result))
    }
}
