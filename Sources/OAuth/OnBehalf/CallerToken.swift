// SPDX-License-Identifier: Apache-2.0

import Cryptography
import JSON

/// The bearer token that a caller has sent for itself, to be exchanged for one of its own (RFC 8693 §2.1).
package struct CallerToken: Sendable {
    /// Tells callers apart, and their tokens nothing.
    package struct Digest: Hashable, Sendable {
        fileprivate let bytes: [UInt8]
    }

    private static let scheme = Array("bearer ".utf8)
    private static let expiryClaim = "exp"
    private static let subjectClaim = "sub"
    private static let longestSubject = 255

    let token: Secret
    package let digest: Digest

    /// Reads the value of a request's `Authorization`.
    ///
    /// - Returns: nil for anything but one bearer token (RFC 6750 §2.1).
    package init?(authorization field: [UInt8]) {
        guard field.count > Self.scheme.count,
            field.prefix(Self.scheme.count).elementsEqual(Self.scheme, by: { ($0 | 0x20) == ($1 | 0x20) })
        else { return nil }
        let token = Array(field.dropFirst(Self.scheme.count).drop { $0 == 0x20 })
        guard !token.isEmpty, token.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: ",") }) else {
            return nil
        }
        self.token = Secret(unlisted: token)
        digest = Digest(bytes: SHA256.digest(token))
    }

    /// Has it shown by no text of a peer's, for as long as the listing is kept.
    var listing: SecretListing { SecretListing(token.plaintextBytes) }

    /// Whom it is of, by its own words; nil for one that does not say.
    var subject: String? {
        let name = token.withPlaintext { try? JWS(compact: $0) }?.claims?[Self.subjectClaim]?.string
        return name.flatMap { 1...Self.longestSubject ~= $0.utf8.count ? $0 : nil }
    }

    /// When it says itself that it is over; nil for one that does not say.
    ///
    /// Nobody has verified that.
    var end: WallTime? {
        let seconds = token.withPlaintext { try? JWS(compact: $0) }?.claims?[Self.expiryClaim]?.number
        return seconds.flatMap { 0...1e11 ~= $0 ? WallTime(secondsSinceEpoch: Int64($0)) : nil }
    }
}
