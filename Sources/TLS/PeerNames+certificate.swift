// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import CBearerdOpenSSL

extension PeerNames {
    /// The names of a certificate.
    ///
    /// - Parameter certificate: an `X509 *`.
    init(of certificate: OpaquePointer) {
        guard let list = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else {
            self = .none
            return
        }
        let names = OpaquePointer(list)
        defer { GENERAL_NAMES_free(names) }
        self.init(hosts: Self.texts(GEN_DNS, of: names), uris: Self.texts(GEN_URI, of: names))
    }

    /// The names of one kind; a zero byte within one stays in it.
    private static func texts(_ kind: CInt, of names: OpaquePointer) -> [String] {
        (0..<bearerd_general_name_count(names)).compactMap { index in
            var length: CInt = 0
            guard let bytes = bearerd_general_name_of_kind(names, index, kind, &length) else { return nil }
            return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(length)), as: UTF8.self)
        }
    }
}
