// SPDX-License-Identifier: Apache-2.0

internal import CBearerdOpenSSL
internal import Glibc

/// The facts about a server's certificate that people want to know.
package struct CertificateSummary: Equatable, Sendable {
    /// The names and addresses of the server (RFC 6125 §6.4).
    package let names: [String]
    /// The validity, in seconds since 1970.
    package let start: Int64
    package let end: Int64

    /// - Parameter certificate: an `X509 *`.
    init(of certificate: OpaquePointer) {
        names = Self.names(of: certificate)
        start = Self.seconds(X509_get0_notBefore(certificate))
        end = Self.seconds(X509_get0_notAfter(certificate))
    }

    private static func names(of certificate: OpaquePointer) -> [String] {
        guard let list = X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else { return [] }
        let names = OpaquePointer(list)
        defer { GENERAL_NAMES_free(names) }
        var texts: [String] = []
        for index in 0..<bearerd_general_name_count(names) {
            var length: CInt = 0
            var isAddress: CInt = 0
            guard let bytes = bearerd_general_name(names, index, &length, &isAddress) else { continue }
            let value = Array(UnsafeBufferPointer(start: bytes, count: Int(length)))
            texts.append(isAddress == 0 ? String(decoding: value, as: UTF8.self) : text(ofAddress: value))
        }
        return texts
    }

    private static func text(ofAddress bytes: [UInt8]) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            let family = bytes.count == 4 ? AF_INET : AF_INET6
            guard bytes.count == 4 || bytes.count == 16,
                let text = inet_ntop(family, bytes, buffer.baseAddress, socklen_t(buffer.count))
            else { return "?" }
            return String(cString: text)
        }
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
        var broken = tm()
        guard ASN1_TIME_to_tm(time, &broken) == 1 else { return 0 }
        return Int64(timegm(&broken))
    }
}
