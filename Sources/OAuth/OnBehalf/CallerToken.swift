// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON

/// The bearer token of a caller's own request: the subject token of a token exchange (RFC 8693 §2.1).
package struct CallerToken: Sendable {
    /// The token's hash, which identifies the caller.
    package struct Digest: Hashable, Sendable {
        fileprivate let bytes: [UInt8]
    }

    private static let scheme = Array("bearer ".utf8)

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

    /// Lists the token as a secret, for as long as the listing is kept.
    var listing: SecretListing { SecretListing(token.plaintextBytes) }

    /// Its unverified `sub`; nil if it has none.
    var subject: String? {
        claim(.subject)?.string.flatMap { 1...255 ~= $0.utf8.count ? $0 : nil }
    }

    /// Its unverified `exp`; nil if it has none.
    var end: WallTime? {
        claim(.expiry)?.number.flatMap { 0...1e11 ~= $0 ? WallTime(secondsSinceEpoch: Int64($0)) : nil }
    }

    private func claim(_ claim: IDTokenClaim) -> JSONValue? {
        token.withPlaintext { try? JWS(compact: $0) }?.claims?[claim.rawValue]
    }
}
