// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop

/// The TLS of one listener: what all have in common, with the protocols that this one offers.
package final class OfferedTLS: ConnectionSecurity {
    private let tls: ServerTLS
    private let offer: ProtocolOffer

    package init(_ tls: ServerTLS, offering offer: ProtocolOffer) {
        self.tls = tls
        self.offer = offer
    }

    package func wire(on descriptor: Int32) -> (any Wire)? { tls.wire(on: descriptor, offering: offer) }

    package func admits(_ wire: any Wire) -> Bool { tls.admits(wire) }
}
