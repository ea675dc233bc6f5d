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
    package let clientAuthorityCount: Int?
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
            clientAuthorityCount = try clientAuthorities.map { pem throws(ContextError) in
                try Self.trust(PEMCertificates(pem), in: handle)
            }
        } catch {
            SSL_CTX_free(handle)
            throw error
        }
        self.handle = handle
    }

    deinit { SSL_CTX_free(handle) }

    /// The server's side of one connection, `SSL *`, to be freed by the caller; it outlives this object.
    func makeSession() -> OpaquePointer? { SSL_new(handle) }

    /// Takes clients of these authorities alone; what stands in the file is trusted, also if it is not a root.
    ///
    /// - Returns: how many there are.
    private static func trust(
        _ authorities: PEMCertificates, in handle: OpaquePointer
    ) throws(ContextError) -> Int {
        guard !authorities.certificates.isEmpty else { throw .noAuthority }
        guard let store = X509_STORE_new() else { throw .lastOfThread }
        defer { X509_STORE_free(store) }
        X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST))
        for certificate in authorities.certificates {
            guard X509_STORE_add_cert(store, certificate) == 1,
                SSL_CTX_add_client_CA(handle, certificate) == 1
            else { throw .lastOfThread }
        }
        guard bearerd_ssl_ctx_set_client_trust(handle, store) == 1 else {
            throw .lastOfThread
        }
        SSL_CTX_set_verify(handle, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        return authorities.certificates.count
    }
}
