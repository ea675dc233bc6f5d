// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages

/// Probing a server that has left a request unanswered.
extension AuthorizationServer {
    /// Asks for a public document (metadata or keys), without credentials.
    ///
    /// - Returns: nil if the server answers; the failure if it does not, or a gateway in front of it says so.
    func probe() async -> TokenFailure? {
        do throws(TokenFailure) {
            let url = try await publicURL()
            try configuration.permit(url)
            let request = TransferRequest(method: .get, url: url, timeLimit: configuration.tokenTimeLimit)
            let response: TransportResponse
            do throws(TransportError) {
                response = try await transport.send(request)
            } catch {
                throw TokenFailure(error, to: request)
            }
            guard response.isTemporary else { return nil }
            return TokenFailure(
                .transient, .status(response.status), detail: "\(url.place) answered \(response.status)")
        } catch {
            return error
        }
    }

    private func publicURL() async throws(TokenFailure) -> HTTPURL {
        if configuration.issuer != nil || configuration.discoveryURL != nil,
            let url = try ServiceDiscovery(configuration: configuration, transport: transport).addresses()
                .first
        {
            return url
        }
        if let keys = configuration.endpoints[.keys] { return keys }
        // Nothing may be published there, but a 404 shows that the server answers.
        let endpoint = try await url(of: .token)
        return HTTPURL("\(endpoint.origin)/.well-known/oauth-authorization-server") ?? endpoint
    }
}
