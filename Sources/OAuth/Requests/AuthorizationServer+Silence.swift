// SPDX-License-Identifier: Apache-2.0

import HTTPMessages

/// Finding out whether a server that leaves a request unanswered is at work at all.
extension AuthorizationServer {
    /// Asks for what is everybody's to read (its metadata, else its keys): no credential goes along, and nothing changes.
    ///
    /// Any answer will do but one of a gateway in front of a server that does not answer.
    ///
    /// - Returns: why there is none; nil if it answers.
    func silence() async -> TokenFailure? {
        do throws(TokenFailure) {
            let url = try await publicURL()
            try configuration.permit(url)
            let request = TransferRequest(method: .get, url: url, timeLimit: configuration.tokenTimeLimit)
            let status: Int
            do throws(TransportError) {
                status = try await transport.send(request).status
            } catch {
                throw TokenFailure(error, to: request)
            }
            guard status >= 500 || status == 408 || status == 429 else { return nil }
            return TokenFailure(.transient, .status(status), detail: "\(url.place) answered \(status)")
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
        // Nothing was ever read there, and "404" is an answer.
        let endpoint = try await url(of: .token)
        return HTTPURL("\(endpoint.origin)/.well-known/oauth-authorization-server") ?? endpoint
    }
}
