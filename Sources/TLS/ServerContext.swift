// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
package import Cryptography

/// A server's side of TLS: its certificate and key, and whose clients it takes.
///
/// `@unchecked Sendable`: the `SSL_CTX` is set up in `init` and not changed afterwards, and OpenSSL lets any number of
/// threads make connections of one.
package final class ServerContext: @unchecked Sendable {
    /// What clients are shown.
    package let certificate: CertificateSummary
    /// How many authorities clients' certificates may come from; nil if none is asked for.
    package var clientAuthorityCount: Int? { clientTrust?.count }
    /// Whether clients are asked for a certificate, and refused without one.
    var wantsClientCertificates: Bool { clientTrust != nil }
    private let clientTrust: ClientTrust?
    /// An `SSL_CTX *`.
    private let handle: OpaquePointer

    /// Judges what a server is to be made of, and makes it.
    ///
    /// - Parameters:
    ///   - chain: PEM; the server's certificate, then those that lead to its authority.
    ///   - key: PEM, without a passphrase.
    ///   - clientAuthorities: PEM; clients must have a certificate that leads to one of these. nil asks for none.
    /// - Throws: ``ContextError``.
    package init(
        chain: [UInt8], key: Secret, clientAuthorities: [UInt8]? = nil
    ) throws(ContextError) {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let handle = SSL_CTX_new(TLS_server_method()) else { throw .lastOfThread }
        do throws(ContextError) {
            guard bearerd_ssl_ctx_set_up_server(handle) == 1 else { throw .lastOfThread }
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
    /// - Parameter descriptor: connected and non-blocking, taken over unless the answer is nil.
    func wire(on descriptor: Int32) -> TLSWire? {
        guard let session = SSL_new(handle), let wire = TLSWire(session, of: .server, descriptor: descriptor)
        else {
            return nil
        }
        wire.clientTrust = clientTrust
        return wire
    }

    /// Whether the client of a connection would be taken if it were made now, whichever context it was made by.
    func admits(_ wire: TLSWire) -> Bool {
        guard let clientTrust else { return true }
        // Whoever is known by an authority that is still here need not be looked at again.
        if let known = wire.clientTrust, known === clientTrust || clientTrust.includes(known) { return true }
        guard wire.hasClient(of: clientTrust) else { return false }
        wire.clientTrust = clientTrust
        return true
    }
}
