// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
internal import CBearerdOpenSSL

extension StreamError {
    /// True if the peer has ended TLS because it speaks none of the protocols that were offered (RFC 7301 §3.2).
    package var hasNoCommonProtocol: Bool {
        guard case .transport(let code) = self else { return false }
        return ERR_GET_REASON(UInt(UInt32(bitPattern: code))) == SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL
    }
}
