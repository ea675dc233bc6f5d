// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import BearerdHTTPClient
import BearerdHTTPMessages
import BearerdRouting

extension RouteConfiguration {
    /// The address of the route's upstream.
    ///
    /// - Parameter trust: the store of parsed CA files.
    func address(trust: TrustStores) throws(TrustStore.LoadError) -> UpstreamAddress {
        UpstreamAddress(
            url: upstream,
            transport: try transport.transport(encrypted: upstream.scheme == .https, trust: trust),
            httpProtocol: upstreamProtocol)
    }

    /// The limits on the use of connections to the upstream.
    var lifetimes: UpstreamPool.Lifetimes {
        UpstreamPool.Lifetimes(idle: terms.timeouts.idle, age: terms.timeouts.age)
    }
}

extension TransportConfiguration {
    /// Makes the transport to a server.
    ///
    /// - Parameters:
    ///   - encrypted: true if TLS may be used.
    ///   - trust: the store of parsed CA files.
    /// - Throws: `TrustStore.LoadError`.
    func transport(encrypted: Bool, trust: TrustStores) throws(TrustStore.LoadError) -> Transport {
        let needsTrust = encrypted || proxy.isSet
        return Transport(
            trust: needsTrust ? try trust.store(caFile: caFile) : nil,
            // Where the system has no bundle, no such proxy is believed.
            proxyTrust: proxy.setting.mayBeEncrypted ? try? trust.store(caFile: nil) : nil,
            ownCertificate: clientCertificate.map { trust.ownCertificates[$0] },
            proxy: proxy.setting,
            connectTo: connectTo.flatMap { ConnectDestination($0.description) },
            skipsVerification: skipsVerification)
    }
}

extension ProxyConfiguration {
    fileprivate var isSet: Bool {
        switch self {
        case .none: false
        case .environment, .url: true
        }
    }

    fileprivate var setting: Transport.Proxy {
        switch self {
        case .none: .none
        case .environment: .environment
        case .url(let url): url.withPlaintext { .url($0) }
        }
    }
}
