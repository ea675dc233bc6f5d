// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Why bytes could not be moved.
package enum StreamError: Error, Equatable, Sendable {
    /// The wait took longer than its time-out.
    case timedOut
    /// The stream was closed on our side while somebody waited.
    case closed
    /// The peer is gone: reset or broken pipe.
    case reset
    /// A system call failed; `code` is its `errno`.
    case failed(code: Int32)
    /// The peer speaks without the encryption that is asked for; it can be told so in the clear.
    case unencrypted
    /// The peer's certificate is not believed; `code` is OpenSSL's (`SSL_get_verify_result`).
    case certificate(code: Int32)
    /// The transport below (TLS) failed; `code` is that library's own.
    case transport(code: Int32)

    init(errno code: CInt) {
        switch code {
        case ECONNRESET, EPIPE: self = .reset
        default: self = .failed(code: code)
        }
    }

    /// What the system says of a failed call; empty for every other case.
    package var reason: String {
        guard case .failed(let code) = self, let text = strerror(code) else { return "" }
        return String(cString: text)
    }
}
