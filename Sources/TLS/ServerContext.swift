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
    /// - Throws: ``ServerContextError``.
    package init(
        chain: [UInt8], key: Secret, clientAuthorities: [UInt8]? = nil
    ) throws(ServerContextError) {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let handle = SSL_CTX_new(TLS_server_method()) else { throw .library(reason: Self.lastReason) }
        do throws(ServerContextError) {
            guard bearerd_ssl_ctx_set_up_server(handle) == 1 else { throw .library(reason: Self.lastReason) }
            certificate = try Self.install(PEMCertificates(chain), key, in: handle)
            clientAuthorityCount = try clientAuthorities.map { pem throws(ServerContextError) in
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

    private static func install(
        _ chain: PEMCertificates, _ key: Secret, in handle: OpaquePointer
    ) throws(ServerContextError) -> CertificateSummary {
        guard let leaf = chain.certificates.first else { throw .noCertificate }
        let summary = CertificateSummary(of: leaf)
        guard X509_cmp_current_time(X509_get0_notAfter(leaf)) > 0 else { throw .expired(at: summary.end) }
        guard SSL_CTX_use_certificate(handle, leaf) == 1 else {
            throw .unusableCertificate(reason: lastReason)
        }
        for certificate in chain.certificates.dropFirst() {
            guard bearerd_ssl_ctx_add_chain(handle, certificate) == 1 else {
                throw .unusableCertificate(reason: lastReason)
            }
        }
        guard let privateKey = readKey(key) else { throw .noKey }
        defer { EVP_PKEY_free(privateKey) }
        guard X509_check_private_key(leaf, privateKey) == 1 else { throw .mismatch }
        guard SSL_CTX_use_PrivateKey(handle, privateKey) == 1 else { throw .noKey }
        return summary
    }

    /// Takes clients of these authorities alone; what stands in the file is trusted, also if it is not a root.
    ///
    /// - Returns: how many there are.
    private static func trust(
        _ authorities: PEMCertificates, in handle: OpaquePointer
    ) throws(ServerContextError) -> Int {
        guard !authorities.certificates.isEmpty else { throw .noAuthority }
        guard let store = X509_STORE_new() else { throw .library(reason: lastReason) }
        defer { X509_STORE_free(store) }
        X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST))
        for certificate in authorities.certificates {
            guard X509_STORE_add_cert(store, certificate) == 1,
                SSL_CTX_add_client_CA(handle, certificate) == 1
            else { throw .library(reason: lastReason) }
        }
        guard bearerd_ssl_ctx_set_client_trust(handle, store) == 1 else {
            throw .library(reason: lastReason)
        }
        SSL_CTX_set_verify(handle, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        return authorities.certificates.count
    }

    private static func readKey(_ pem: Secret) -> OpaquePointer? {
        pem.withPlaintextBytes { bytes in
            bytes.withUnsafeBufferPointer { buffer -> OpaquePointer? in
                guard let bio = BIO_new_mem_buf(buffer.baseAddress, CInt(clamping: buffer.count)) else {
                    return nil
                }
                defer { BIO_free(bio) }
                // Without a callback of ours OpenSSL would ask on the terminal.
                return PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil)
            }
        }
    }

    /// OpenSSL's words for what failed last on this thread.
    private static var lastReason: String {
        guard let text = ERR_reason_error_string(ERR_peek_last_error()) else { return "TLS is not to be had" }
        return String(cString: text)
    }
}
