// SPDX-License-Identifier: Apache-2.0

internal import CBearerdOpenSSL
internal import Glibc

/// The certificate authorities to which a server's certificate must lead, parsed once for all connections.
///
/// libcurl itself would parse the whole bundle again for each connection: 20 ms and 870 KiB.
///
/// `@unchecked Sendable`: the `X509_STORE` is filled in `init` and only read afterwards, and OpenSSL guards
/// its own lookups and counts its references atomically.
package final class TrustStore: @unchecked Sendable {
    /// No authorities could be loaded.
    package struct LoadError: Error, Equatable, Sendable {
        /// Text for people.
        package let reason: String

        /// The file cannot be read, or holds no certificate.
        package static func unusable(path: String) -> LoadError {
            LoadError(reason: "\(path): no certificates can be read from it")
        }

        /// Neither `SSL_CERT_FILE` nor libcurl names a bundle.
        package static let noSystemBundle = LoadError(
            reason: "the system has no bundle of certificates; name one with ca_file")
    }

    /// An `X509_STORE *`, owned by this object.
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

    /// Parses the system's bundle: `SSL_CERT_FILE` if set, else the one that libcurl was built to use.
    package static func system() throws(LoadError) -> TrustStore {
        guard let path = systemFile else { throw .noSystemBundle }
        return try TrustStore(file: path)
    }

    /// The path of the system's bundle; nil if nothing names one.
    package static var systemFile: String? {
        getenv("SSL_CERT_FILE").map { String(cString: $0) } ?? HTTPClientLibrary.systemBundle
    }
}

extension TrustStore: Equatable {
    /// Compares identity: two objects were parsed at different times, perhaps from different contents.
    package static func == (left: TrustStore, right: TrustStore) -> Bool { left === right }
}
