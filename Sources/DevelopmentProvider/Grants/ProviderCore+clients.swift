// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdHTTPServer

extension ProviderCore {
    /// Authenticates the requesting client (RFC 6749 §2.3).
    ///
    /// - Throws: `invalid_client`, or `invalid_request` if two methods are used at once.
    func authenticatedClient(
        _ request: ServiceRequest, _ form: FormParameters
    ) throws(ProviderError) -> DevelopmentClient {
        guard request.head.fields.contains(.authorization) else {
            return try client(form[.clientID] ?? "", proving: form[.clientSecret])
        }
        guard form[.clientSecret] == nil else {
            throw ProviderError(.invalidRequest, "more than one way of client authentication")
        }
        guard let (id, secret) = request.credentials("Basic").flatMap(ProviderCore.basicCredentials) else {
            throw ProviderError(
                .invalidClient, "the Authorization field is not Basic with form-encoded credentials")
        }
        guard form[.clientID] ?? id == id else {
            throw ProviderError(.invalidRequest, "client_id differs from the Authorization field")
        }
        return try client(id, proving: secret)
    }

    /// The client with this id, without authentication.
    func knownClient(_ id: String?) -> DevelopmentClient? {
        settings.clients.first { $0.id == id }
    }

    private func client(_ id: String, proving secret: String?) throws(ProviderError) -> DevelopmentClient {
        let refusal = ProviderError(.invalidClient, "unknown client, or the wrong secret")
        guard let client = knownClient(id) else { throw refusal }
        switch (client.secret, secret) {
        case (nil, nil): return client
        case (let known?, let given?) where known.matches(Array(given.utf8)): return client
        case (nil, _?), (_?, _): throw refusal
        }
    }

    /// The id and secret, which were form-encoded before they were joined (RFC 6749 §2.3.1).
    private static func basicCredentials(_ text: String) -> (id: String, secret: String)? {
        guard let bytes = Base64.decode(text), let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let id = PercentEncoding.decode(bytes[..<colon], isForm: true),
            let secret = PercentEncoding.decode(bytes[colon...].dropFirst(), isForm: true)
        else { return nil }
        return (id, secret)
    }
}
