// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The reason why bytes could not be moved.
package enum StreamError: Error, Equatable, Sendable {
    /// The wait took longer than its time-out.
    case timedOut
    /// Our side closed the stream during the wait.
    case closed
    /// The peer is gone (`ECONNRESET`, `EPIPE`).
    case reset
    /// A system call failed; `code` is its `errno`.
    case failed(code: Int32)
    /// The peer speaks plain text where TLS is required; it can be told so in plain text.
    case unencrypted
    /// The peer's certificate does not verify; `code` is OpenSSL's (`SSL_get_verify_result`).
    case certificate(code: Int32)
    /// The peer has us work at TLS, as by changing keys, and sends nothing else.
    case flooded
    /// TLS failed; `code` is the library's own.
    case transport(code: Int32)

    init(errno code: CInt) {
        switch code {
        case ECONNRESET, EPIPE: self = .reset
        default: self = .failed(code: code)
        }
    }

    /// The system's text for a failed call; empty for every other case.
    package var reason: String {
        guard case .failed(let code) = self, let text = strerror(code) else { return "" }
        return String(cString: text)
    }
}
