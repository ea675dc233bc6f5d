// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import CBearerdOpenSSL
internal import Glibc

/// One side of TLS over a socket of its own.
///
/// ``close()`` alone is a cut. Only ``endSending()`` sends close_notify, so that a truncated answer never looks
/// complete (RFC 8446 §6.1).
final class TLSWire: Wire {
    /// Our side of the handshake.
    enum Role { case server, client }

    private let descriptor: CInt
    private let session: OpaquePointer
    /// True after a fatal error; OpenSSL must not be called again then.
    private var isBroken = false
    /// True if only sending failed: what the peer sent before can still be received.
    private var canStillReceive = false
    /// True if the last receive has emptied the socket.
    private var hasDrained = false
    private var hasEndedSending = false
    private(set) var workBeside = 0
    /// Sends in plain text to a peer that has never spoken TLS.
    private var plain: SocketWire?
    /// The number of reads that may still discard input after an error.
    private var discardsLeft = 64
    /// The authorities that have verified the client's certificate; nil if none was required.
    var clientTrust: ClientTrust?
    /// Kept alive for the session's callbacks; nil on the server's side.
    private let owner: ClientContext?

    /// - Parameters:
    ///   - session: an `SSL *`, taken over.
    ///   - descriptor: connected and non-blocking; taken over unless nil is returned.
    ///   - owner: kept as long as the session.
    init?(_ session: OpaquePointer, of role: Role, descriptor: CInt, owner: ClientContext? = nil) {
        guard SSL_set_fd(session, descriptor) == 1 else {
            SSL_free(session)
            return nil
        }
        switch role {
        case .server: SSL_set_accept_state(session)
        case .client: SSL_set_connect_state(session)
        }
        self.owner = owner
        self.session = session
        self.descriptor = descriptor
    }

    deinit {
        // OpenSSL resumes no session of a connection that ended without close_notify; ours may end with a cut.
        if !isBroken { SSL_set_shutdown(session, SSL_SENT_SHUTDOWN) }
        SSL_free(session)
    }

    var isEncrypted: Bool { true }

    var peerCertificateEnd: Int64? {
        SSL_get0_peer_certificate(session).map { CertificateSummary(of: $0).end }
    }

    var applicationProtocol: ApplicationProtocol? { ProtocolOffer.chosen(on: session) }

    /// Read when they are asked for first: most listeners do not tell clients apart.
    private(set) lazy var peerNames = SSL_get0_peer_certificate(session).map(PeerNames.init) ?? .none

    /// When the first certificate ends that the client was accepted with, in seconds since 1970.
    private lazy var clientEnd = bearerd_ssl_client_end(session)

    var peerIsCurrent: Bool { clientTrust == nil || Int64(time(nil)) < clientEnd }

    /// Returns true if the client has a certificate of one of these authorities.
    func hasClient(of trust: ClientTrust) -> Bool { !isBroken && trust.admitsClient(of: session) }

    /// OpenSSL buffers bytes that the kernel does not know of; only a receive that left none there, and none in the socket,
    /// spares the next one, 1,500 instructions and a system call.
    var drainsOnShortReceive: Bool { hasDrained }

    func handshake() -> WireResult {
        guard !isBroken else { return .failed(.reset) }
        forgetErrors()
        let status = SSL_do_handshake(session)
        if status == 1 { return .moved(0) }
        let outcome = outcome(of: status)
        guard isBroken, isFirstWordPlain else { return outcome }
        plain = SocketWire(descriptor: descriptor, closesDescriptor: false)
        return .failed(.unencrypted)
    }

    func receive(into destination: UnsafeMutableRawBufferPointer) -> WireResult {
        guard !isBroken || canStillReceive else { return discard(destination) }
        forgetErrors()
        var (count, events): (Int, CInt) = (0, 0)
        var isEmpty: CInt = 0
        let status = bearerd_ssl_read(
            session, destination.baseAddress, destination.count, &count, &events, &isEmpty)
        workBeside = Int(events) &* TurnBudget.eventCost
        hasDrained = isEmpty != 0
        return status == 1 ? .moved(count) : outcome(of: status)
    }

    func send(_ source: UnsafeRawBufferPointer) -> WireResult {
        guard !isBroken else { return plain?.send(source) ?? .failed(.reset) }
        forgetErrors()
        var count = 0
        let status = SSL_write_ex(session, source.baseAddress, source.count, &count)
        if status == 1 { return .moved(count) }
        let outcome = outcome(of: status)
        if case .failed(.reset) = outcome { canStillReceive = true }
        return outcome
    }

    func send(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ third: UnsafeRawBufferPointer
    ) -> WireResult { sendAsRecord(first, second, third) }

    var announcesEnd: Bool { true }

    func endSending() -> WireResult {
        guard !hasEndedSending else { return .moved(0) }
        if !isBroken {
            forgetErrors()
            let status = SSL_shutdown(session)
            if status < 0, case .wouldBlockOnWrite = outcome(of: status) { return .wouldBlockOnWrite }
        }
        hasEndedSending = true
        shutdown(descriptor, CInt(SHUT_WR))
        return .moved(0)
    }

    func hasFoundEnd(hasArrived: Bool) -> Bool {
        guard !isBroken, SSL_get_shutdown(session) & SSL_RECEIVED_SHUTDOWN == 0 else { return true }
        guard hasArrived || SSL_has_pending(session) == 1 else { return false }
        forgetErrors()
        let status = bearerd_ssl_has_data(session)
        if status == 1 { return false }
        return switch outcome(of: status) {
        case .end, .truncated, .failed: true
        case .moved, .wouldBlockOnRead, .wouldBlockOnWrite: false
        }
    }

    func resetOnClose() { SocketWire.resetOnClose(descriptor) }

    func close() { _ = Glibc.close(descriptor) }

    /// True if the first bytes were no TLS record and nothing has been sent yet.
    private var isFirstWordPlain: Bool {
        guard SSL_is_server(session) == 1, BIO_number_written(SSL_get_wbio(session)) == 0
        else { return false }
        return switch ERR_GET_REASON(ERR_peek_error()) {
        case SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_WRONG_VERSION_NUMBER: true
        default: false
        }
    }

    /// Notes a fatal error; the session may be what the peer refuses.
    private func breakOff() {
        isBroken = true
        canStillReceive = false
        owner?.forgetSession()
    }

    /// Forgets what an earlier call has left in the thread's queue, which would be taken for the next one's.
    ///
    /// There is hardly ever anything; to empty an empty queue costs 840 instructions, twice a request.
    private func forgetErrors() {
        if ERR_peek_error() != 0 { ERR_clear_error() }
    }

    /// The meaning of a call that failed.
    private func outcome(of status: CInt) -> WireResult {
        let code = errno
        guard bearerd_ssl_is_flooded(session) == 0 else {
            breakOff()
            return .failed(.flooded)
        }
        switch SSL_get_error(session, status) {
        case SSL_ERROR_WANT_READ: return .wouldBlockOnRead
        case SSL_ERROR_WANT_WRITE: return .wouldBlockOnWrite
        case SSL_ERROR_ZERO_RETURN: return .end
        case SSL_ERROR_SYSCALL:
            breakOff()
            return code == 0
                ? .truncated : .failed(code == ECONNRESET || code == EPIPE ? .reset : .failed(code: code))
        default:
            breakOff()
            let error = ERR_peek_error()
            switch ERR_GET_REASON(error) {
            case SSL_R_UNEXPECTED_EOF_WHILE_READING: return .truncated
            case SSL_R_CERTIFICATE_VERIFY_FAILED:
                return .failed(.certificate(code: Int32(truncatingIfNeeded: SSL_get_verify_result(session))))
            default: return .failed(.transport(code: Int32(truncatingIfNeeded: error)))
            }
        }
    }

    /// Discards input after TLS has failed, so that the peer can read the alert: closing with unread input would
    /// reset the connection.
    private func discard(_ scratch: UnsafeMutableRawBufferPointer) -> WireResult {
        while discardsLeft > 0 {
            discardsLeft -= 1
            let count = recv(descriptor, scratch.baseAddress, scratch.count, 0)
            if count < 0, errno == EAGAIN { return .wouldBlockOnRead }
            guard count > 0 else { break }
        }
        return .truncated
    }
}
