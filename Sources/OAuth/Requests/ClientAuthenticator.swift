// SPDX-License-Identifier: Apache-2.0

import Crypto
import HTTPTypes

/// Puts the client's proof of itself into requests (RFC 6749 §2.3).
struct ClientAuthenticator {
    let configuration: ClientConfiguration
    let secret: Secret?

    /// Adds what the method asks for; `isFormEncoded` is about HTTP Basic.
    func authenticate(_ fields: inout HTTPFields, _ body: inout FormBody, isFormEncoded: Bool) {
        switch configuration.authentication {
        case .none:
            body.append(.clientID, configuration.clientID)
        case .post:
            body.append(.clientID, configuration.clientID)
            secret?.withPlaintext { body.append(.clientSecret, $0) }
        case .basic:
            fields.append(
                .authorization,
                BasicCredentials.fieldValue(
                    clientID: configuration.clientID, secret: secret ?? Secret(""),
                    isFormEncoded: isFormEncoded))
        }
    }

    /// Whether a refusal may be about the encoding of HTTP Basic.
    var dependsOnEncoding: Bool {
        guard configuration.authentication == .basic, let secret else { return false }
        return BasicCredentials.dependOnEncoding(clientID: configuration.clientID, secret: secret)
    }
}
