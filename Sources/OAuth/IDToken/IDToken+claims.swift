// SPDX-License-Identifier: Apache-2.0

import Cryptography
import JSON

/// What programs like to know of the person.
extension IDToken {
    /// Takes a token apart that a session holds, and has judged.
    ///
    /// - Returns: nil for what is no id token; no input traps.
    public init?(_ compact: String) {
        guard let token = try? IDToken(parsing: Secret(compact)) else { return nil }
        self = token
    }

    /// A claim that is text, by its name; nil where it is missing, or something else.
    public subscript(claim: String) -> String? { signed.claims?[claim]?.string }

    /// Every claim as one JSON object, arrays and objects too.
    public var json: String { signed.claims.map { String(decoding: $0.serialized(), as: UTF8.self) } ?? "{}" }

    /// A claim that is a list of texts, such as `groups`; one text alone counts as such a list.
    public func strings(_ claim: String) -> [String] {
        let value = signed.claims?[claim]
        return value?.string.map { [$0] } ?? value?.array?.compactMap(\.string) ?? []
    }

    /// `email` (OpenID Connect Core §5.1), where the scope has it.
    public var email: String? { self["email"] }

    /// What people call the person: the first of `preferred_username`, `email` and `sub` that says something.
    var person: String? {
        ["preferred_username", "email", "sub"].lazy.compactMap { self[$0] }.first { !$0.isEmpty }
    }

    /// `email_verified`, which is `true`, or the text of it with servers that mistake the type.
    public var isEmailVerified: Bool {
        let claim = signed.claims?["email_verified"]
        return claim?.bool ?? (claim?.string?.lowercased() == "true")
    }
}
