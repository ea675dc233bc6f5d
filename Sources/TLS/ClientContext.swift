// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
internal import CBearerdOpenSSL

/// The client's side of TLS to one server: trusted authorities, our own certificate, and the session to resume.
///
/// There is one `SSL_CTX` for all connections to the server, because making one costs as much as a resumed handshake.
/// A session is only resumed with the authorities that verified it. Confined to its loop's thread.
package final class ClientContext {
    /// An `SSL_CTX *`.
    private let handle: OpaquePointer
    private let host: String
    private let skipsVerification: Bool
    /// The newest `SSL_SESSION *` of the server.
    private var session: OpaquePointer?

    /// - Parameters:
    ///   - host: the name or address that the server's certificate must be for, an IPv6 address without brackets.
    ///   - authorities: an `X509_STORE *`; nil trusts nobody.
    ///   - certificate: our own; nil for none.
    ///   - skipsVerification: true to accept any certificate.
    ///   - offer: the protocols that the server may choose of.
    package init(
        host: String, authorities: OpaquePointer?, certificate: CertifiedKey?, skipsVerification: Bool,
        offering offer: ProtocolOffer = .http1
    ) throws(ContextError) {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let handle = SSL_CTX_new(TLS_client_method()) else { throw .lastOfThread }
        guard bearerd_ssl_ctx_set_up_client(handle, offer.list.utf8Start, onNewSession) == 1 else {
            SSL_CTX_free(handle)
            throw .lastOfThread
        }
        do throws(ContextError) {
            _ = try certificate?.install(in: handle)
        } catch {
            SSL_CTX_free(handle)
            throw error
        }
        if let authorities { SSL_CTX_set1_cert_store(handle, authorities) }
        if skipsVerification {
            SSL_CTX_set_verify(handle, SSL_VERIFY_NONE, nil)
        } else {
            bearerd_ssl_ctx_verify_server(handle)
        }
        self.handle = handle
        self.host = host
        self.skipsVerification = skipsVerification
        SSL_CTX_set_ex_data(handle, 0, Unmanaged.passUnretained(self).toOpaque())  // a wire keeps its context
    }

    deinit {
        SSL_SESSION_free(session)
        SSL_CTX_free(handle)
    }

    /// The client's side of a new connection, before its handshake.
    ///
    /// - Parameter descriptor: connected and non-blocking; taken over unless nil is returned.
    package func wire(on descriptor: Int32) -> (any Wire)? {
        guard let connection = SSL_new(handle) else { return nil }
        guard bearerd_ssl_set_server_name(connection, host, skipsVerification ? 0 : 1) == 1 else {
            SSL_free(connection)
            return nil
        }
        offerSession(on: connection)
        return TLSWire(connection, of: .client, descriptor: descriptor, owner: self)
    }

    /// Has a connection resume a copy of the newest session.
    ///
    /// OpenSSL takes a session of TLS 1.3 for spent once a handshake has resumed it (RFC 8446 §C.4). Connections that begin
    /// before the next one is read would make a whole handshake each, which costs twice as much: one in seven with 32 at once.
    /// Observers can tell that two connections resume one session; they see that both lead to the same upstream anyway.
    private func offerSession(on connection: OpaquePointer) {
        guard let session, SSL_SESSION_is_resumable(session) == 1, let copy = SSL_SESSION_dup(session) else {
            return
        }
        SSL_set_session(connection, copy)
        SSL_SESSION_free(copy)  // the connection has it
    }

    /// Resumes no session until there is a new one, after a connection has failed.
    func forgetSession() {
        SSL_SESSION_free(session)
        session = nil
    }

    fileprivate func keep(_ newest: OpaquePointer) {
        SSL_SESSION_free(session)
        session = newest
    }
}

/// OpenSSL's callback for each new session of a server (`SSL_CTX_sess_set_new_cb`); 1 keeps the reference.
private func onNewSession(_ connection: OpaquePointer?, _ session: OpaquePointer?) -> CInt {
    guard let connection, let session, let context = SSL_get_SSL_CTX(connection),
        let owner = SSL_CTX_get_ex_data(context, 0)
    else { return 0 }
    Unmanaged<ClientContext>.fromOpaque(owner).takeUnretainedValue().keep(session)
    return 1
}
