// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdRouting
import BearerdTLS

extension ListenerConfiguration {
    /// The protocols of its clients, in words.
    var spokenProtocols: String {
        switch protocols {
        case .http1: "HTTP/1.1 alone"
        case .http2: "HTTP/2 alone"
        case .either: "HTTP/1.1 and HTTP/2"
        }
    }

    /// The protocols as the configuration spells them.
    var protocolNames: [String] {
        switch protocols {
        case .http1: ["http1"]
        case .http2: ["h2"]
        case .either: ["http1", "h2"]
        }
    }
}

extension RouteConfiguration {
    /// The upstream's protocol in words, to be put behind its URL; empty for HTTP/1.1.
    var spokenProtocol: String {
        switch upstreamProtocol {
        case .http1: ""
        case .http2: " (HTTP/2)"
        case .auto: " (HTTP/2 or HTTP/1.1, as its TLS chooses)"
        }
    }
}
