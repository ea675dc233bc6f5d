// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPExchange

extension UpstreamError {
    /// The failure's ``UpstreamError/reason``, with the place that `connect_to` names if that is where it happened: the
    /// server's own name would mislead.
    package func reason(over transport: Transport) -> String {
        switch self {
        case .connectionRefused, .connectionTimeout, .unreachable, .dnsError, .dnsTimeout, .tlsCertificate,
            .tlsHandshake, .other:
            transport.connectTo.map { "connect_to \($0): \(reason)" } ?? reason
        case .proxy, .clientCertificate, .noDescriptors, .noThreads, .busy, .cancelled: reason
        }
    }
}
