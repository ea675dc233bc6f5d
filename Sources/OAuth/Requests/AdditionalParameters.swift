// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
package import BearerdJSON

/// Members of a server's response that no RFC used here defines, such as `instance_url` or `session_state`.
///
/// They may be secret, so they are never printed.
public struct AdditionalParameters: Equatable, Sendable {
    /// A larger object is not kept; in bytes of JSON.
    private static let mostBytes = 1 << 16
    /// An object of more members is not kept.
    private static let mostMembers = 1000
    /// A member whose name contains one of these words may hold a secret.
    private static let secretWords = [
        "token", "secret", "pass", "code", "assertion", "credential", "sig", "jwt", "key", "cookie", "otp",
        "ticket", "verifier", "private", "seed", "nonce", "authorization",
    ]
    /// The longest text that ``showable`` has, in bytes.
    private static let longestShown = 500

    package private(set) var members: JSONObject

    /// No parameters.
    public init() { members = JSONObject() }

    /// The members of `object` whose names are not `known`.
    package init(_ object: JSONObject, except known: Set<String> = []) {
        let others = known.isEmpty ? object : object.without(known)
        let isKept = others.count <= Self.mostMembers && others.serialized().count <= Self.mostBytes
        members = isKept ? others : JSONObject()
    }

    /// Returns true if there are no parameters.
    public var isEmpty: Bool { members.isEmpty }

    /// The names, in the order of the response.
    public var names: [String] { members.map(\.name) }

    /// The member of this name if it is a string; nil otherwise.
    public subscript(name: String) -> String? { members[name]?.string }

    /// The member of this name if it is a number; nil otherwise.
    public func number(_ name: String) -> Double? { members[name]?.number }

    /// All members as one JSON object.
    public var json: String { String(decoding: members.serialized(), as: UTF8.self) }

    /// These parameters, with those of a later response in place of the ones that have the same names.
    func updated(with newer: AdditionalParameters) -> AdditionalParameters {
        var all = members
        for (name, value) in newer.members { all[name] = value }
        return AdditionalParameters(all)
    }

    /// These parameters without the strings that contain one of `secrets`.
    func without(_ secrets: [Secret]) -> AdditionalParameters {
        let revealing = members.filter { _, value in
            guard let text = value.string else { return false }
            return secrets.contains { $0.withPlaintext { !$0.isEmpty && text.contains($0) } }
        }
        return AdditionalParameters(members, except: Set(revealing.map(\.name)))
    }

    /// Returns true if a parameter of this name may hold a secret.
    static func soundsSecret(_ name: String) -> Bool {
        secretWords.contains(where: name.lowercased().contains)
    }

    /// The parameters that may be shown: short plain strings, numbers and booleans whose names do not sound secret.
    package var showable: JSONObject {
        var shown = JSONObject()
        for (name, value) in members where !Self.soundsSecret(name) {
            switch value {
            case .string(let text): if Self.isShowable(text) { shown[name] = value }
            case .integer, .real, .bool: shown[name] = value
            case .array, .object, .null: break
            }
        }
        return shown
    }

    /// Neither a JWT, nor a URL with a query, a fragment or a password, nor a part of a known secret.
    private static func isShowable(_ text: String) -> Bool {
        text.utf8.allSatisfy { 0x20...0x7E ~= $0 } && text.utf8.count <= longestShown
            && !text.hasPrefix("eyJ") && !SecretListing.isRepeated(in: text)
            && !(text.contains("://") && text.contains { "?#@".contains($0) })
    }
}

extension AdditionalParameters: Redacted {
    /// A fixed text, which shows nothing of the contents.
    public var description: String { "[additional parameters]" }
}
