// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
internal import CBearerdOpenSSL

/// A certificate with its chain and its key, which one side of TLS shows.
package struct CertifiedKey: Sendable {
    /// In PEM, our own certificate first.
    private let chain: [UInt8]
    /// In PEM, without a passphrase.
    private let key: Secret

    package init(chain: [UInt8], key: Secret) {
        self.chain = chain
        self.key = key
    }

    /// Returns true if both are the same files' contents, byte by byte.
    package func isSame(as other: CertifiedKey) -> Bool { chain == other.chain && key.matches(other.key) }

    /// Checks that there is a certificate and that the key belongs to it.
    ///
    /// - Returns: the facts about the certificate.
    @discardableResult
    package func check() throws(ContextError) -> CertificateSummary {
        ERR_clear_error()
        defer { ERR_clear_error() }
        guard let handle = SSL_CTX_new(TLS_method()) else { throw .lastOfThread }
        defer { SSL_CTX_free(handle) }
        return try install(in: handle)
    }

    /// Configures an `SSL_CTX *` to show the certificate.
    ///
    /// - Parameter mustBeValid: true to refuse an expired certificate.
    @discardableResult
    package func install(
        in handle: OpaquePointer, mustBeValid: Bool = false
    ) throws(ContextError) -> CertificateSummary {
        let chain = PEMCertificates(chain)
        guard let leaf = chain.certificates.first else { throw .noCertificate }
        let summary = CertificateSummary(of: leaf)
        guard !mustBeValid || X509_cmp_current_time(X509_get0_notAfter(leaf)) > 0
        else { throw .expired(at: summary.end) }
        guard SSL_CTX_use_certificate(handle, leaf) == 1
        else { throw .unusableCertificate(reason: ContextError.lastReason) }
        for certificate in chain.certificates.dropFirst() {
            guard bearerd_ssl_ctx_add_chain(handle, certificate) == 1
            else { throw .unusableCertificate(reason: ContextError.lastReason) }
        }
        guard let privateKey = readPrivateKey(pem: key) else { throw .noKey }
        defer { EVP_PKEY_free(privateKey) }
        guard X509_check_private_key(leaf, privateKey) == 1 else { throw .mismatch }
        guard SSL_CTX_use_PrivateKey(handle, privateKey) == 1 else { throw .noKey }
        return summary
    }
}
