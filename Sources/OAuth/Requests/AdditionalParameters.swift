// SPDX-License-Identifier: Apache-2.0

import Cryptography
package import JSON

/// Members of a server's answer that no RFC of ours knows: `instance_url`, `session_state`, and so on.
///
/// They may be secret: nothing prints them.
public struct AdditionalParameters: Equatable, Sendable {
    /// A server may send anything, and we keep it: up to this many bytes.
    private static let mostBytes = 1 << 16

    package private(set) var members: JSONObject

    /// None.
    public init() { members = JSONObject() }

    /// - Parameters:
    ///   - object: an answer.
    ///   - known: the names that have a place of their own.
    package init(_ object: JSONObject, except known: Set<String> = []) {
        members = JSONObject()
        for (name, value) in object where !known.contains(name) { members[name] = value }
        if members.serialized().count > Self.mostBytes { members = JSONObject() }
    }

    /// Whether there is none.
    public var isEmpty: Bool { members.isEmpty }

    /// The names, in the order of the answer.
    public var names: [String] { members.map(\.name) }

    /// A member that is text, by its name; nil where it is missing, or something else.
    public subscript(name: String) -> String? { members[name]?.string }

    /// A member that is a number; nil where it is missing, or something else.
    public func number(_ name: String) -> Double? { members[name]?.number }

    /// All members as one JSON object.
    public var json: String { String(decoding: members.serialized(), as: UTF8.self) }

    /// These, with what a later answer said in their place.
    func updated(with newer: AdditionalParameters) -> AdditionalParameters {
        var all = members
        for (name, value) in newer.members { all[name] = value }
        return AdditionalParameters(all)
    }
}

extension AdditionalParameters {
    /// A member of one of these names, whole or in part, may open something.
    private static let secretWords = [
        "token", "secret", "pass", "code", "assertion", "credential", "sig", "jwt", "key", "cookie", "otp",
        "ticket", "verifier", "private", "seed", "nonce", "authorization",
    ]
    private static let longestShown = 500

    /// These, without what repeats one of `secrets` under whatever name.
    func without(_ secrets: [Secret]) -> AdditionalParameters {
        var clean = JSONObject()
        for (name, value) in members {
            if let text = value.string {
                let repeats = secrets.contains { secret in
                    secret.withPlaintext { !$0.isEmpty && text.contains($0) }
                }
                if repeats { continue }
            }
            clean[name] = value
        }
        return AdditionalParameters(clean)
    }

    /// Whether what goes by this name may open something.
    static func soundsSecret(_ name: String) -> Bool {
        secretWords.contains(where: name.lowercased().contains)
    }

    /// Those that may be shown: plain text, numbers and truths whose name does not sound like a secret's.
    package var showable: JSONObject {
        var shown = JSONObject()
        for (name, value) in members where !Self.soundsSecret(name) {
            switch value {
            case .string(let text):
                let isPlain = text.utf8.allSatisfy { 0x20...0x7E ~= $0 }
                // What looks like a JWT is one, and the query of an address may hold anything.
                if isPlain, text.utf8.count <= Self.longestShown, !text.hasPrefix("eyJ"),
                    !SecretListing.isRepeated(in: text),
                    !(text.contains("://") && text.contains { "?#@".contains($0) })
                {
                    shown[name] = value
                }
            case .integer, .real, .bool: shown[name] = value
            case .array, .object, .null: break
            }
        }
        return shown
    }
}

extension AdditionalParameters: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says what it is, and nothing of what is in it.
    public var description: String { "[additional parameters]" }
    /// Says no more than `description`.
    public var debugDescription: String { description }
    /// Shows nothing of what is in it.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
