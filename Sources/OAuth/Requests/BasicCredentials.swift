// SPDX-License-Identifier: Apache-2.0

import Cryptography
import HTTPMessages

/// Client id and secret as the value of an `Authorization` field (RFC 6749 §2.3.1, RFC 7617).
enum BasicCredentials {
    /// Both percent-encoded before they are joined, or as they are.
    static func fieldValue(clientID: String, secret: Secret, isFormEncoded: Bool) -> String {
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

    /// Whether the two encodings differ, so that a refusal may be about the encoding.
    static func dependOnEncoding(clientID: String, secret: Secret) -> Bool {
        fieldValue(clientID: clientID, secret: secret, isFormEncoded: true)
            != fieldValue(clientID: clientID, secret: secret, isFormEncoded: false)
    }
}
