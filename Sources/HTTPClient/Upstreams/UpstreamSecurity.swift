// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdTLS

/// The TLS context of one upstream, made anew when our own certificate changes.
///
/// Confined to its loop's thread.
final class UpstreamSecurity {
    private let address: UpstreamAddress
    private let offer: ProtocolOffer
    private var current: (context: ClientContext, version: Int)?

    init(_ address: UpstreamAddress, offering offer: ProtocolOffer) {
        self.address = address
        self.offer = offer
    }

    /// Returns the TLS context for the next connection.
    ///
    /// - Throws: ``UpstreamError/clientCertificate``, ``UpstreamError/tlsHandshake``.
    func context() throws(UpstreamError) -> ClientContext {
        let transport = address.transport
        let version = transport.ownCertificate?.version ?? 0
        if let current, current.version == version { return current.context }
        let pair = transport.ownCertificate?.pair
        guard pair != nil || transport.ownCertificate == nil else { throw .clientCertificate(.unusable) }
        do throws(ContextError) {
            let context = try ClientContext(
                host: address.url.host, authorities: transport.trust?.handle, certificate: pair,
                skipsVerification: transport.skipsVerification, offering: offer)
            current = (context, version)
            return context
        } catch {
            throw pair == nil ? .tlsHandshake : .clientCertificate(.unusable)
        }
    }
}
