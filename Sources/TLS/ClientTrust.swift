// SPDX-License-Identifier: Apache-2.0

internal import CBearerdOpenSSL

/// The authorities whose client certificates a server accepts.
///
/// `@unchecked Sendable`: the `X509_STORE` is immutable after `init`, and OpenSSL locks what it caches.
final class ClientTrust: @unchecked Sendable {
    let count: Int
    /// An `X509_STORE *`.
    private let store: OpaquePointer
    /// A digest of each authority.
    private let digests: Set<[UInt8]>

    /// - Parameter authorities: all are trusted, even those that are no root.
    init(_ authorities: PEMCertificates) throws(ContextError) {
        guard !authorities.certificates.isEmpty else { throw .noAuthority }
        guard let store = X509_STORE_new() else { throw .lastOfThread }
        X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST))
        var digests: Set<[UInt8]> = []
        for certificate in authorities.certificates {
            var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
            guard X509_STORE_add_cert(store, certificate) == 1,
                X509_digest(certificate, EVP_sha256(), &digest, nil) == 1
            else {
                X509_STORE_free(store)
                throw .lastOfThread
            }
            digests.insert(digest)
        }
        count = authorities.certificates.count
        self.store = store
        self.digests = digests
    }

    deinit { X509_STORE_free(store) }

    /// Configures an `SSL_CTX *` to require certificates of these authorities, and to name them to clients.
    ///
    /// - Parameter authorities: the ones this was made of.
    func install(in handle: OpaquePointer, naming authorities: PEMCertificates) throws(ContextError) {
        for certificate in authorities.certificates {
            guard SSL_CTX_add_client_CA(handle, certificate) == 1 else { throw .lastOfThread }
        }
        guard bearerd_ssl_ctx_set_client_trust(handle, store) == 1 else { throw .lastOfThread }
        SSL_CTX_set_verify(handle, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    }

    /// Returns true if all authorities of `other` are among these.
    func includes(_ other: ClientTrust) -> Bool { digests.isSuperset(of: other.digests) }

    /// Returns true if the client of a connection, an `SSL *`, has a certificate of one of these authorities.
    func admitsClient(of session: OpaquePointer) -> Bool {
        ERR_clear_error()
        defer { ERR_clear_error() }
        return bearerd_ssl_client_verifies(session, store) == 1
    }
}
