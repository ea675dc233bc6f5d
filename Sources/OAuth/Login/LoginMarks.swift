// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// The values of one login that its response and its ID token must repeat, where the program chooses them itself.
struct LoginMarks: Sendable {
    /// 22 characters of base64url hold 128 random bits.
    private static let leastLength = 22
    private static let greatestLength = 512
    /// A random text of that length has fewer only by a chance that nobody needs to fear.
    private static let leastVariety = 8

    /// `state` (RFC 6749 §4.1.1); nil for one that is drawn.
    var state: Secret?
    /// `nonce` (OpenID Connect Core §3.1.2.1); nil for one that is drawn.
    var nonce: Secret?

    /// Throws a ``TokenFailure`` for a value that somebody else might guess, or that no URL may hold (RFC 6749 §10.10).
    func check() throws(TokenFailure) {
        for (name, mark) in [("state", state), ("nonce", nonce)] {
            guard let mark, !mark.withPlaintext(Self.isRandomEnough) else { continue }
            throw TokenFailure(
                .misconfigured, .badParameter,
                detail:
                    "the \(name) is too easy to guess: it needs \(Self.leastLength) to \(Self.greatestLength) "
                    + "printable ASCII characters, at least \(Self.leastVariety) different ones, and should be random; "
                    + "leave it out to have one drawn")
        }
    }

    private static func isRandomEnough(_ text: String) -> Bool {
        let bytes = text.utf8
        return leastLength...greatestLength ~= bytes.count && bytes.allSatisfy { 0x21...0x7E ~= $0 }
            && Set(bytes).count >= leastVariety
    }
}
