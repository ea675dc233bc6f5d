// SPDX-License-Identifier: Apache-2.0

package import BearerdJSON

/// A signed token that was parsed and not yet verified (RFC 7515 §3.1).
package struct JWS: Sendable {
    package let algorithm: JWSAlgorithm
    package let keyID: String?
    package let type: String?
    /// The header's `jwk`: the key that the sender claims to have signed with (RFC 7515 §4.1.3).
    package let embeddedKey: JSONObject?
    /// The signed bytes; trust them only after a key has verified the token.
    package let payload: [UInt8]
    let compact: String

    /// Parses a token.
    ///
    /// - Parameter compact: the compact serialization (RFC 7515 §7.1).
    /// - Throws: ``JOSEError/malformed`` or ``JOSEError/criticalExtension``; no input traps.
    package init(compact: String) throws(JOSEError) {
        let parts = compact.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let headerBytes = Base64URL.decode(String(parts[0])),
            let payload = Base64URL.decode(String(parts[1])), Base64URL.decode(String(parts[2])) != nil,
            let header = try? JSONObject(parsing: headerBytes), let algorithm = header["alg"]?.string
        else { throw .malformed }
        guard header["crit"] == nil else { throw .criticalExtension }
        self.algorithm = JWSAlgorithm(rawValue: algorithm)
        keyID = header["kid"]?.string
        type = header["typ"]?.string
        embeddedKey = header["jwk"]?.object
        self.payload = payload
        self.compact = compact
    }

    /// The payload as a JSON object, as in a JWT (RFC 7519 §3); nil if it is none.
    package var claims: JSONObject? { try? JSONObject(parsing: payload) }
}
