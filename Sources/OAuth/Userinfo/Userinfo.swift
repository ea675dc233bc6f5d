// SPDX-License-Identifier: Apache-2.0

package import BearerdJSON

/// The claims about the person who logged in (OpenID Connect Core §5.3.2).
public struct Userinfo: Sendable {
    /// `sub`: the person, unique with this issuer; the same as in the ID token.
    public let subject: String
    /// Every claim.
    package let claims: JSONObject

    /// The claim of this name if it is a string; nil otherwise.
    public subscript(claim: String) -> String? { claims[claim]?.string }

    /// All claims as one JSON object.
    public var json: String { String(decoding: claims.serialized(), as: UTF8.self) }
}

extension Userinfo: Redacted {
    /// A fixed text, which shows nothing of the contents.
    public var description: String { "[userinfo]" }
}
