// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
package import BearerdHTTPMessages
internal import BearerdTLS
internal import CBearerdLibcurl
internal import CBearerdOpenSSL
internal import Glibc

extension CurlEasy {
    /// Sets the options that every handle of bearerd needs, and the way to the server at `url`.
    ///
    /// - Parameter attachments: kept by the caller for as long as this handle; keeps `transport` in turn.
    func configure(url: HTTPURL, transport: Transport, attachments: CurlAttachments) throws(CurlError) {
        try set(CURLOPT_NOSIGNAL, to: true)
        try set(CURLOPT_QUICK_EXIT, to: true)  // else cleaning up waits for the thread that resolves a name
        // Over HTTP/2 libcurl would turn the bytes that we frame ourselves into frames of its own.
        let version =
            if !transport.transfersByHTTP2 { CURL_HTTP_VERSION_1_1 } else if url.scheme == .https {
                CURL_HTTP_VERSION_2TLS
            } else { CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE }
        try set(CURLOPT_HTTP_VERSION, to: Int(version))
        try set(CURLOPT_TCP_NODELAY, to: true)
        try setSocketOpener(openSocket)
        try set(CURLOPT_OPENSOCKETDATA, to: Unmanaged.passUnretained(attachments).toOpaque())
        try set(CURLOPT_FOLLOWLOCATION, to: false)
        try set(CURLOPT_PROTOCOLS_STR, to: "http,https")
        if let path = url.socketPath {
            try set(CURLOPT_UNIX_SOCKET_PATH, to: path)
            try set(CURLOPT_URL, to: "http://localhost" + url.target)
        } else {
            try set(CURLOPT_URL, to: url.description)
        }
        if let destination = transport.connectTo {
            try set(CURLOPT_CONNECT_TO, to: ["::\(destination)"], keptBy: attachments)
        }
        let proxy = transport.proxy(to: url)
        try setProxy(proxy)
        attachments.proxy = proxy.server(for: url.scheme)
        attachments.transport = transport
        try setSecurity(transport, attachments)
    }

    private func setProxy(_ proxy: Transport.Proxy) throws(CurlError) {
        // A proxy that were asked for the resource itself would see the token.
        try set(CURLOPT_HTTPPROXYTUNNEL, to: true)
        try set(CURLOPT_SUPPRESS_CONNECT_HEADERS, to: true)
        switch proxy {
        case .none:
            try set(CURLOPT_PROXY, to: "")  // nil would mean the environment's
        case .url(let url):
            try set(CURLOPT_PROXY, to: url)
            try set(CURLOPT_NOPROXY, to: "")  // nil would mean the environment's
        case .environment:
            break
        }
    }

    /// Has TLS with the server offer these protocols, of which libcurl learns nothing: over HTTP/2 it would speak itself.
    ///
    /// - Parameter attachments: those of ``configure(url:transport:attachments:)``.
    func offer(_ protocols: ProtocolOffer, keptBy attachments: CurlAttachments) throws(CurlError) {
        try set(CURLOPT_SSL_ENABLE_ALPN, to: false)
        attachments.offer = protocols
    }

    /// Gives libcurl no files; ``onSecurityContext`` installs the authorities and our own certificate
    /// instead.
    private func setSecurity(_ transport: Transport, _ attachments: CurlAttachments) throws(CurlError) {
        try set(CURLOPT_CAINFO, to: String?.none)
        try set(CURLOPT_CAPATH, to: String?.none)
        try set(CURLOPT_PROXY_CAINFO, to: String?.none)
        try set(CURLOPT_PROXY_CAPATH, to: String?.none)
        try set(CURLOPT_SSLVERSION, to: Int(CURL_SSLVERSION_TLSv1_2))
        try set(CURLOPT_PROXY_SSLVERSION, to: proxyVersionMark)
        try set(CURLOPT_SSL_VERIFYPEER, to: !transport.skipsVerification)
        try set(CURLOPT_SSL_VERIFYHOST, to: transport.skipsVerification ? 0 : 2)
        // libcurl would take the store of its first connection for the one of all: a changed ca_file would not count.
        try set(CURLOPT_CA_CACHE_TIMEOUT, to: 0)
        try bearerd_easy_setopt_ssl_context_function(handle, onSecurityContext).check()
        try set(CURLOPT_SSL_CTX_DATA, to: Unmanaged.passUnretained(attachments).toOpaque())
    }
}

extension Transport {
    /// The proxy that is used for `url`; none if the address to connect to is on this machine.
    package func proxy(to url: HTTPURL) -> Proxy {
        url.scheme == .unix || (connectTo?.isLoopback ?? url.isLoopback) ? .none : proxy
    }
}

/// An explicit highest TLS version for an HTTPS proxy, which the server's connection does not have.
///
/// It is the only mark by which ``onSecurityContext`` can tell the two connections apart.
private let proxyVersionMark = Int(CURL_SSLVERSION_TLSv1_2) | Int(CURL_SSLVERSION_MAX_TLSv1_3)

/// Called by libcurl once for each TLS connection, before the handshake (`CURLOPT_SSL_CTX_FUNCTION`).
private func onSecurityContext(
    _: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?, _ user: UnsafeMutableRawPointer?
) -> CURLcode {
    guard let context = context.map({ OpaquePointer($0) }), let user,
        case let attachments = Unmanaged<CurlAttachments>.fromOpaque(user).takeUnretainedValue(),
        let transport = attachments.transport
    else { return CURLE_SSL_CONNECT_ERROR }
    // Without the first, OpenSSL wants a write repeated from the same address; without the second, all of it at once.
    let modes = Int(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_ENABLE_PARTIAL_WRITE)
    SSL_CTX_ctrl(context, SSL_CTRL_MODE, modes, nil)
    // libcurl wants no session tickets before TLS 1.3: a server that keeps no sessions could resume none.
    SSL_CTX_clear_options(context, BEARERD_SSL_OP_NO_TICKET)
    // libcurl itself would be content with a name in the subject alone.
    if SSL_CTX_get_verify_mode(context) != SSL_VERIFY_NONE { bearerd_ssl_ctx_verify_server(context) }
    let isOfProxy = SSL_CTX_ctrl(context, SSL_CTRL_GET_MAX_PROTO_VERSION, 0, nil) == Int(TLS1_3_VERSION)
    if !isOfProxy {
        attachments.hasMetServer = true
        let note = CurlAttachments.AlertNote()
        attachments.alertNote = note
        SSL_CTX_set_ex_data(context, alertNoteIndex, Unmanaged.passRetained(note).toOpaque())
        SSL_CTX_set_info_callback(context, onSecurityEvent)
    }
    if !isOfProxy, let names = attachments.offer?.list {
        SSL_CTX_set_alpn_protos(context, names.utf8Start, UInt32(names.utf8CodeUnitCount))
    }
    if let trust = isOfProxy ? transport.proxyTrust : transport.trust {
        SSL_CTX_set1_cert_store(context, trust.handle)
    }
    guard !isOfProxy, let certificate = transport.ownCertificate else { return CURLE_OK }
    guard let pair = certificate.pair, (try? pair.install(in: context)) != nil else {
        return CURLE_SSL_CERTPROBLEM
    }
    return CURLE_OK
}

/// The place in a context of OpenSSL where it keeps its note of alerts.
private let alertNoteIndex = bearerd_ssl_ctx_new_index { _, note, _, _, _, _ in
    if let note { Unmanaged<CurlAttachments.AlertNote>.fromOpaque(note).release() }
}

/// Called by OpenSSL when something becomes of a TLS connection with a server: takes note of an alert that ended it.
private func onSecurityEvent(_ session: OpaquePointer?, _ event: CInt, _ value: CInt) {
    // A warning ended nothing before TLS 1.3, where an alert has no level (RFC 8446 §6).
    guard event == SSL_CB_READ | SSL_CB_ALERT, let session,
        value >> 8 == SSL3_AL_FATAL || SSL_version(session) >= TLS1_3_VERSION,
        let place = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(session), alertNoteIndex)
    else { return }
    Unmanaged<CurlAttachments.AlertNote>.fromOpaque(place).takeUnretainedValue().alert = UInt8(
        truncatingIfNeeded: value)
}

/// Opens a socket as libcurl would (`CURLOPT_OPENSOCKETFUNCTION`), and sets bearerd's own socket options.
private func openSocket(
    _ context: UnsafeMutableRawPointer?, _: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context, let address else { return CURL_SOCKET_BAD }
    let attachments = Unmanaged<CurlAttachments>.fromOpaque(context).takeUnretainedValue()
    switch attachments.connected {
    case .waiting(let descriptor):
        attachments.connected = .taken
        return descriptor
    case .taken: return CURL_SOCKET_BAD
    case nil: break
    }
    guard !attachments.staysNearby || LoopbackSocket.isNearby(&address.pointee.addr) else {
        attachments.wasTooFar = true
        return CURL_SOCKET_BAD
    }
    attachments.onResolved?()
    attachments.onResolved = nil
    attachments.port = address.pointee.addr.port
    let type = address.pointee.socktype | CInt(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(address.pointee.family, type, address.pointee.protocol)
    attachments.socketError = descriptor < 0 ? errno : 0
    guard descriptor >= 0 else { return CURL_SOCKET_BAD }
    attachments.socket = descriptor
    LoopbackSocket.tune(descriptor, at: &address.pointee.addr)
    if address.pointee.family != AF_UNIX { TCPKeepAlive.enable(on: descriptor) }
    return descriptor
}

extension sockaddr {
    /// The port of an IPv4 or IPv6 address: the first two bytes of `sa_data`, in network order; 0 for other
    /// families.
    fileprivate var port: UInt16 {
        guard sa_family == AF_INET || sa_family == AF_INET6 else { return 0 }
        return UInt16(UInt8(bitPattern: sa_data.0)) << 8 | UInt16(UInt8(bitPattern: sa_data.1))
    }
}
