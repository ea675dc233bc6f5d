// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
internal import Synchronization

/// TLS for listeners, with a certificate that can be replaced while they serve.
package final class ServerTLS: ConnectionSecurity {
    private let context: Mutex<ServerContext>

    package init(_ context: ServerContext) { self.context = Mutex(context) }

    /// Replaces the certificate for new connections; open ones keep theirs; sessions of the former context are not
    /// resumed.
    package func replace(with context: ServerContext) { self.context.withLock { $0 = context } }

    /// The certificate that new connections get.
    package var certificate: CertificateSummary { context.withLock { $0 }.certificate }

    package func wire(on descriptor: Int32) -> (any Wire)? { wire(on: descriptor, offering: nil) }

    /// - Parameter offer: the protocols that clients may choose of; nil for those of the context.
    func wire(on descriptor: Int32, offering offer: ProtocolOffer?) -> (any Wire)? {
        context.withLock { $0 }.wire(on: descriptor, offering: offer)
    }

    package func admits(_ wire: any Wire) -> Bool {
        // A plain connection is older than the listener's certificate.
        guard let wire = wire as? TLSWire else { return false }
        return context.withLock { $0 }.admits(wire)
    }
}
