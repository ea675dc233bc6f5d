// SPDX-License-Identifier: Apache-2.0

internal import CBearerdOpenSSL
internal import Glibc

/// The certificate authorities that a server's certificate must lead to, parsed once and used by every connection.
///
/// libcurl by itself parses the whole bundle again for each connection: 20 ms and 870 KiB.
///
/// `@unchecked Sendable`: the `X509_STORE` is filled in `init`, only read afterwards, and OpenSSL guards its own
/// look-ups and counts its references atomically.
package final class TrustStore: @unchecked Sendable {
    /// Why no authorities could be had.
    package struct LoadError: Error, Equatable, Sendable {
        /// What a person reads of it.
        package let reason: String

        /// The file cannot be read, or no certificate is in it.
        package static func unusable(path: String) -> LoadError {
            LoadError(reason: "\(path): no certificates can be read from it")
        }

        /// Neither `SSL_CERT_FILE` nor libcurl names a bundle.
        package static let noSystemBundle = LoadError(
            reason: "the system has no bundle of certificates; name one with ca_file")
    }

    /// An `X509_STORE *`, which libcurl's callback gets as its user pointer.
    let handle: OpaquePointer

    /// Parses the PEM certificates of a file.
    package init(file path: String) throws(LoadError) {
        guard let handle = X509_STORE_new() else { throw .unusable(path: path) }
        self.handle = handle
        ERR_clear_error()
        let status = X509_STORE_load_file(handle, path)
        // A certificate in the bundle is trusted by itself, whether or not it is self-signed, as libcurl has it.
        X509_STORE_set_flags(handle, UInt(X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST))
        guard status == 1 else {
            ERR_clear_error()
            throw .unusable(path: path)
        }
    }

    deinit { X509_STORE_free(handle) }

    /// Parses the system's bundle: `SSL_CERT_FILE` if set, else the one that libcurl was built for.
    package static func system() throws(LoadError) -> TrustStore {
        guard let path = systemFile else { throw .noSystemBundle }
        return try TrustStore(file: path)
    }

    /// Where the system's bundle is; nil if nothing names one.
    package static var systemFile: String? {
        getenv("SSL_CERT_FILE").map { String(cString: $0) } ?? HTTPClientLibrary.systemBundle
    }
}

extension TrustStore: Equatable {
    /// Each was parsed at another time, perhaps of other contents.
    package static func == (left: TrustStore, right: TrustStore) -> Bool { left === right }
}
