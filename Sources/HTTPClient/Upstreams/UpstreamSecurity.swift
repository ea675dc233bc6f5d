// SPDX-License-Identifier: Apache-2.0

internal import HTTPMessages
internal import System
internal import TLS

/// TLS to one upstream, made anew when the files of our own certificate change.
///
/// Confined to its loop's thread.
final class UpstreamSecurity {
    private let address: UpstreamAddress
    private var current: (context: ClientContext, fingerprints: [FileFingerprint?])?

    init(_ address: UpstreamAddress) {
        self.address = address
    }

    /// What the next connection is encrypted with.
    ///
    /// - Throws: ``UpstreamError/clientCertificate``, ``UpstreamError/tlsHandshake``.
    func context() throws(UpstreamError) -> ClientContext {
        let transport = address.transport
        let files = [transport.clientCertificateFile, transport.clientKeyFile].compactMap(\.self)
        let fingerprints = files.map { FileSystem.fingerprint(of: $0) }
        if let current, current.fingerprints == fingerprints { return current.context }
        do throws(ClientContext.Failure) {
            let context = try ClientContext(
                host: address.url.host, authorities: transport.trust?.handle,
                certificateFile: transport.clientCertificateFile, keyFile: transport.clientKeyFile,
                skipsVerification: transport.skipsVerification)
            current = (context, fingerprints)
            return context
        } catch {
            // A certificate and its key are two files: between the one's change and the other's the pair before serves.
            if let current { return current.context }
            throw error == .clientCertificate ? .clientCertificate : .tlsHandshake
        }
    }
}
