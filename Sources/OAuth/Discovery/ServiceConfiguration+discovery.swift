// SPDX-License-Identifier: Apache-2.0

extension ServiceConfiguration {
    /// Fetches all that a server says of itself, in every document that it has.
    ///
    /// - Parameters:
    ///   - configuration: names the issuer, or where its document is.
    ///   - transport: the way there.
    /// - Returns: the documents, merged.
    /// - Throws: ``TokenFailure`` if there is none, or it is another issuer's.
    public static func discover(
        for configuration: ClientConfiguration, over transport: any TokenTransport
    ) async throws(TokenFailure) -> ServiceConfiguration {
        try await ServiceDiscovery(configuration: configuration, transport: transport)
            .discover(wanting: nil).service
    }
}
