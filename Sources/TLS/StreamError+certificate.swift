// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
package import EventLoop

extension StreamError {
    /// Whether a handshake failed because the peer's certificate is not to be believed.
    package var isCertificateFailure: Bool {
        guard case .transport(let code) = self else { return false }
        return bearerd_err_reason(UInt(UInt32(bitPattern: code))) == SSL_R_CERTIFICATE_VERIFY_FAILED
    }
}
