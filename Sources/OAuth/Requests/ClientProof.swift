// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages

/// The client authentication of one request (RFC 6749 §2.3, RFC 7521 §4.2, RFC 8705 §2).
enum ClientProof {
    /// `client_id` alone, for a public client or one whose TLS certificate authenticates it; nothing if it is empty.
    case identifier
    /// HTTP Basic with the client secret.
    case basic(Secret)
    /// The client secret in the body.
    case secret(Secret)
    /// A signed JWT.
    case assertion(Secret)
    /// A JWT-SVID (draft-ietf-oauth-spiffe-client-auth).
    case verifiableIdentityDocument(Secret)

    /// Adds the authentication to a request; `isFormEncoded` is about HTTP Basic.
    func authenticate(
        _ clientID: String, _ fields: inout HTTPFields, _ body: inout FormBody, isFormEncoded: Bool
    ) {
        switch self {
        case .identifier:
            if !clientID.isEmpty { body.append(.clientID, clientID) }
        case .basic(let secret):
            fields.append(
                .authorization,
                Self.basicCredentials(clientID: clientID, secret: secret, isFormEncoded: isFormEncoded))
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

    /// True if the body does not say who the client is.
    var namesClientInHeader: Bool {
        if case .basic = self { true } else { false }
    }

    /// Returns true if the two encodings of HTTP Basic differ, so that a refusal may be about the encoding.
    func dependsOnEncoding(_ clientID: String) -> Bool {
        guard case .basic(let secret) = self else { return false }
        return Self.basicCredentials(clientID: clientID, secret: secret, isFormEncoded: true)
            != Self.basicCredentials(clientID: clientID, secret: secret, isFormEncoded: false)
    }

    /// The value of `Authorization` for HTTP Basic (RFC 7617), with both parts percent-encoded (RFC 6749 §2.3.1) or as they are.
    static func basicCredentials(clientID: String, secret: Secret, isFormEncoded: Bool) -> String {
        let joined = secret.withPlaintext { secret in
            var bytes: [UInt8] = []
            for (index, part) in [clientID, secret].enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ":")) }
                if isFormEncoded { PercentEncoding.encode(part, into: &bytes) } else { bytes += part.utf8 }
            }
            return bytes
        }
        return "Basic " + Base64.encode(joined)
    }
}
