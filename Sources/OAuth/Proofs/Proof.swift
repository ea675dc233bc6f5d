// SPDX-License-Identifier: Apache-2.0

import Cryptography
import JSONText

/// A proof of possession for one request, still to be signed (RFC 9449 §4.2).
package struct Proof: Sendable {
    private static let type = "dpop+jwt"

    let key: ProofKey
    /// As ``header(of:)`` makes it.
    let header: String
    /// `htm`.
    let method: String
    let target: ProofTarget
    /// `ath`; nil without an access token.
    var tokenDigest: String?
    /// What the server wants to see again (RFC 9449 §8); nil while it has told none.
    var nonce: String?

    /// What stands before the claims of all proofs by `key`.
    static func header(of key: ProofKey) -> String { key.header(type: type) }

    /// Signs it, with a `jti` that was never used and will never be.
    ///
    /// - Parameters:
    ///   - wall: the civil clock, by which the server judges it.
    ///   - identifier: the `jti`.
    /// - Returns: the value of the field `DPoP`.
    /// - Throws: ``JOSEError``.
    func signed(
        at wall: WallTime, as identifier: String = SecureRandom.word(bytes: 16)
    ) throws(JOSEError) -> String {
        try key.sign(payload(at: wall, identifier), under: header)
    }

    private func payload(at wall: WallTime, _ identifier: String) -> [UInt8] {
        var payload: [UInt8] = []
        payload.reserveCapacity(320)
        func put(_ name: StaticString, _ value: String) {
            payload.append(UInt8(ascii: payload.isEmpty ? "{" : ","))
            payload.append(jsonString: name.description)
            payload.append(UInt8(ascii: ":"))
            payload.append(jsonString: value)
        }
        put("jti", identifier)
        put("htm", method)
        put("htu", target.uri)
        if let tokenDigest { put("ath", tokenDigest) }
        if let nonce { put("nonce", nonce) }
        payload += ",\"iat\":\(wall.secondsSinceEpoch)}".utf8
        return payload
    }
}
