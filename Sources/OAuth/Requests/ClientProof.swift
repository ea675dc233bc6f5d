// SPDX-License-Identifier: Apache-2.0

import Cryptography
import HTTPMessages

/// What a request carries to prove its client (RFC 6749 §2.3, RFC 7521 §4.2, RFC 8705 §2).
enum ClientProof {
    /// `client_id` alone: a public client, or one that its certificate proves; nothing where there is no client.
    case identifier
    /// HTTP Basic.
    case basic(Secret)
    /// The secret in the body.
    case secret(Secret)
    /// A signed JWT.
    case assertion(Secret)
    /// A JWT-SVID (draft-ietf-oauth-spiffe-client-auth).
    case verifiableIdentityDocument(Secret)

    /// Adds the proof to a request; `isFormEncoded` is about HTTP Basic.
    func authenticate(
        _ clientID: String, _ fields: inout HTTPFields, _ body: inout FormBody, isFormEncoded: Bool
    ) {
        switch self {
        case .identifier:
            if !clientID.isEmpty { body.append(.clientID, clientID) }
        case .basic(let secret):
            fields.append(
                .authorization,
                BasicCredentials.fieldValue(clientID: clientID, secret: secret, isFormEncoded: isFormEncoded))
        case .secret(let secret):
            body.append(.clientID, clientID)
            secret.withPlaintext { body.append(.clientSecret, $0) }
        case .assertion(let assertion):
            append(assertion, "jwt-bearer", of: clientID, to: &body)
        case .verifiableIdentityDocument(let assertion):
            append(assertion, "jwt-spiffe", of: clientID, to: &body)
        }
    }

    private func append(_ assertion: Secret, _ type: String, of clientID: String, to body: inout FormBody) {
        body.append(.clientID, clientID)
        body.append(.clientAssertionType, "urn:ietf:params:oauth:client-assertion-type:\(type)")
        assertion.withPlaintext { body.append(.clientAssertion, $0) }
    }

    /// Whether the body does not say who the client is.
    var namesClientInHeader: Bool {
        switch self {
        case .basic: true
        case .identifier, .secret, .assertion, .verifiableIdentityDocument: false
        }
    }

    /// Whether a refusal may be about the encoding of HTTP Basic.
    func dependsOnEncoding(_ clientID: String) -> Bool {
        guard case .basic(let secret) = self else { return false }
        return BasicCredentials.dependOnEncoding(clientID: clientID, secret: secret)
    }
}
