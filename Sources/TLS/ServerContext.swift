// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
internal import CBearerdOpenSSL

/// The server's side of TLS: its certificate and key, and the client certificates it accepts.
///
/// `@unchecked Sendable`: the `SSL_CTX` is immutable after `init`, and OpenSSL lets any number of threads make
/// connections of one.
package final class ServerContext: @unchecked Sendable {
    package let certificate: CertificateSummary
    /// The number of authorities for client certificates; nil if none is required.
    package var clientAuthorityCount: Int? { clientTrust?.count }
    private let clientTrust: ClientTrust?
    /// An `SSL_CTX *`.
    private let handle: OpaquePointer

    /// Checks the certificate and key and makes a context.
    ///
    /// - Parameters:
    ///   - chain: PEM; the server's certificate, then its intermediate certificates.
    ///   - key: PEM, without a passphrase.
    ///   - clientAuthorities: PEM; clients need a certificate of one of these. Nil requires none.
    ///   - offer: the protocols that clients may choose of.
    package init(
        chain: [UInt8], key: Secret, clientAuthorities: [UInt8]? = nil, offering offer: ProtocolOffer = .http1
    ) throws(ContextError) {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let handle = SSL_CTX_new(TLS_server_method()) else { throw .lastOfThread }
        do throws(ContextError) {
            guard bearerd_ssl_ctx_set_up_server(handle, offer.list.utf8Start) == 1 else {
                throw .lastOfThread
            }
            certificate = try CertifiedKey(chain: chain, key: key).install(in: handle, mustBeValid: true)
            clientTrust = try clientAuthorities.map { pem throws(ContextError) in
                let authorities = PEMCertificates(pem)
                let trust = try ClientTrust(authorities)
                try trust.install(in: handle, naming: authorities)
                return trust
            }
        } catch {
            SSL_CTX_free(handle)
            throw error
        }
        self.handle = handle
    }

    deinit { SSL_CTX_free(handle) }

    /// The server's side of one connection, which outlives this object.
    ///
    /// - Parameters:
    ///   - descriptor: connected and non-blocking; taken over unless nil is returned.
    ///   - offer: the protocols that the client may choose of; nil for those of the context.
    func wire(on descriptor: Int32, offering offer: ProtocolOffer? = nil) -> TLSWire? {
        guard let session = SSL_new(handle) else { return nil }
        if let offer { bearerd_ssl_set_protocols(session, offer.list.utf8Start) }
        guard let wire = TLSWire(session, of: .server, descriptor: descriptor)
        else { return nil }
        wire.clientTrust = clientTrust
        return wire
    }

    /// Returns true if the client of a connection would be accepted now, whichever context accepted it.
    func admits(_ wire: TLSWire) -> Bool {
        guard let clientTrust else { return true }
        // A client that was verified by an authority that is still trusted need not be verified again, until one of those
        // certificates has ended: the authority may have been renewed.
        if wire.peerIsCurrent, let known = wire.clientTrust,
            known === clientTrust || clientTrust.includes(known)
        {
            return true
        }
        guard wire.hasClient(of: clientTrust) else { return false }
        wire.clientTrust = clientTrust
        return true
    }
}
