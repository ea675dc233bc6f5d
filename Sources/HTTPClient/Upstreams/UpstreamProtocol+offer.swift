// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdTLS

extension UpstreamProtocol {
    /// The protocols that TLS with the upstream offers.
    var offer: ProtocolOffer {
        switch self {
        case .http1: .http1
        case .http2: .http2
        case .auto: .either
        }
    }
}
