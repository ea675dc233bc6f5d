// SPDX-License-Identifier: Apache-2.0

import Cryptography
import HTTPMessages

extension AuthorizationServer: KeyPublisher {
    var timeLimit: Duration { configuration.tokenTimeLimit }

    func fetchKeys(from url: HTTPURL) async throws(TokenFailure) -> JSONWebKeySet {
        var request = TransferRequest(method: .get, url: url, timeLimit: configuration.tokenTimeLimit)
        request.fields.append(.accept, "application/json")
        let response = try await send(request)
        guard response.status == 200, let keys = try? JSONWebKeySet(parsing: response.body) else {
            throw TokenFailure(
                .transient, .noKeys,
                detail: "what \(url.place) answers (\(response.status)) is no set of keys")
        }
        return keys
    }

    /// The `jwks_uri`; nil if the server publishes no keys.
    func keysURL() async throws(TokenFailure) -> HTTPURL? {
        if let configured = configuration.endpoints[.keys] { return configured }
        return try await metadataIfPublished()?.endpoints[.keys]
    }
}
