// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPExchange

extension UpstreamError {
    /// The ``UpstreamError/reason``, preceded by the address of `connect_to` if the failure happened there.
    ///
    /// The server's own name would mislead in that case.
    package func reason(over transport: Transport) -> String {
        switch self {
        case .connectionRefused, .connectionTimeout, .greetingTimeout, .unreachable, .dnsError, .dnsTimeout,
            .tlsCertificate, .tlsHandshake, .noCommonProtocol, .weakCipher, .otherProtocol, .headTooLarge,
            .declined, .other:
            transport.connectTo.map { "connect_to \($0): \(reason)" } ?? reason
        case .proxy, .clientCertificate, .noDescriptors, .noThreads, .busy, .cancelled: reason
        }
    }
}
