// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop

/// The beginning of a client's HTTP/2 (RFC 9113 §3.4), at which the parser of HTTP/1.1 refuses it.
private let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
/// The bytes of it that make an unsupported version of a request line.
private let prefaceVersionEnd = 14

extension ByteStream {
    /// True if all that has come is the preface of HTTP/2, as far as it is there, in the clear and with prior knowledge
    /// (RFC 9113 §3.3).
    package var beginsHTTP2: Bool {
        guard !isEncrypted, bytesReceived == UInt64(input.count) else { return false }
        return input.withReadable { bytes in
            bytes.count >= prefaceVersionEnd
                && (0..<min(bytes.count, preface.count)).allSatisfy { bytes[$0] == preface[$0] }
        }
    }
}
