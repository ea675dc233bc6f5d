// SPDX-License-Identifier: Apache-2.0

package import JSON

/// The claims about the person who logged in (OpenID Connect Core §5.3.2), compared with the id token.
public struct Userinfo: Sendable {
    /// `sub`: the person, unique with this issuer; that of the id token, if there is one.
    public let subject: String
    /// Every claim.
    package let claims: JSONObject

    /// A claim that is text, by its name; nil where it is missing, or something else.
    public subscript(claim: String) -> String? { claims[claim]?.string }

    /// Every claim, as the server spells them.
    public var json: String { String(decoding: claims.serialized(), as: UTF8.self) }
}

extension Userinfo: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says what it is, and nothing of what is in it: it is about a person.
    public var description: String { "[userinfo]" }
    /// Says no more than `description`.
    public var debugDescription: String { description }
    /// Shows nothing of what is in it.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
