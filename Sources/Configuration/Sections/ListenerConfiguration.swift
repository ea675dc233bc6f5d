// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages
package import BearerdTLS

/// A data listener (an item of `listen`).
package struct ListenerConfiguration: Sendable {
    package let address: ListenAddress
    /// The protocols that its clients may speak, over TLS and in the clear.
    package let protocols: ProtocolOffer
}

/// The keys of an item of `listen` that is a map.
enum ListenerKeyword: String, ConfigurationKey {
    case address
    case protocols
}

extension ListenerConfiguration {
    /// Reads an item that is a map; nil if it has no address.
    static func reading(_ section: Section<ListenerKeyword>) -> Found<ListenerConfiguration>? {
        section.require(.address)
        let protocols = section.list(.protocols, .spokenProtocol).map { Set($0.map(\.value)) }
        if protocols?.isEmpty == true { section.error(.protocols, "needs http1, h2 or both") }
        guard let address = section.value(.address, .listenAddress(in: section.reading)) else { return nil }
        return address.map { ListenerConfiguration(address: $0, protocols: ProtocolOffer(protocols)) }
    }
}

extension ProtocolOffer {
    /// Reads a list of protocols; nil means both.
    fileprivate init(_ protocols: Set<ProtocolOffer>?) {
        switch protocols {
        case [.http1]: self = .http1
        case [.http2]: self = .http2
        default: self = .either
        }
    }
}

extension ValueKind<ProtocolOffer> {
    fileprivate static var spokenProtocol: ValueKind { word(of: [("http1", .http1), ("h2", .http2)]) }
}
