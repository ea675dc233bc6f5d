// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON
import BearerdTestSupport

/// A provider's key for RS256 that has no `kid`, neither where it is published nor in what it signs.
struct UnnamedKey: Sendable {
    /// Its public part, as JSON.
    let published: String
    private let key: PrivateKey

    init() throws {
        let pair = try TestKeyPair("RS256")
        key = try PrivateKey(parsing: Secret(bytes: TemporaryDirectory.contents(of: pair.privateKeyFile)))
        let line = try openssl(["rsa", "-in", pair.privateKeyFile, "-noout", "-modulus"])
        let digits = Array(line.drop { $0 != "=" }.filter(\.isHexDigit))
        let modulus = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
        published = #"{"kty":"RSA","alg":"RS256","use":"sig","n":"\#(Base64URL.encode(modulus))","e":"AQAB"}"#
    }

    /// An id token with these claims.
    func signed(_ claims: ConformanceSite.Claims) throws -> String {
        try key.sign(JSONObject(parsing: Array(ConformanceSite.text(claims).utf8)))
    }
}
