// SPDX-License-Identifier: Apache-2.0

package import JSON
package import OAuth
internal import Observability

/// The members of what is said of an identity and of its tokens.
private enum Member {
    static let name = "name"
    static let state = "state"
    static let generation = "generation"
    static let expiresAt = "expires_at"
    static let scope = "scope"
    static let audience = "audience"
    static let resource = "resource"
    static let lastRefresh = "last_refresh"
    static let lastError = "last_error"
    static let tokens = "tokens"
    static let additional = "additional"
    static let code = "code"
    static let detail = "detail"
    static let at = "at"
}

extension IdentityStatus {
    /// Reads what ``json`` wrote; what only its own process can know of expiry is missing.
    package init?(admin json: JSONValue) {
        guard let name = json[Member.name]?.string, let state = IdentityState(json[Member.state]) else {
            return nil
        }
        self.init(
            name: name, state: state, generation: json[Member.generation]?.integer.map { Int($0) } ?? 0,
            expiresAt: WallTime(json[Member.expiresAt]), scope: json[Member.scope]?.words ?? [],
            lastRefresh: WallTime(json[Member.lastRefresh]), lastError: IdentityError(json[Member.lastError]),
            tokens: json[Member.tokens]?.array?.compactMap { TokenStatus(admin: $0) } ?? [])
        additionalParameters = AdditionalParameters(json[Member.additional]?.object ?? [:])
    }

    /// One entry of `identities`.
    package var json: JSONValue {
        var entry: JSONObject = [
            Member.name: .string(name),
            Member.state: .string(state.rawValue),
            Member.generation: .integer(Int64(generation)),
            Member.expiresAt: expiresAt.json,
            Member.scope: JSONValue(words: scope),
            Member.lastRefresh: lastRefresh.json,
            Member.lastError: lastError?.json ?? .null,
        ]
        let additional = additionalParameters.showable
        if !additional.isEmpty { entry[Member.additional] = .object(additional) }
        if !tokens.isEmpty { entry[Member.tokens] = .array(tokens.map(\.json)) }
        return .object(entry)
    }
}

extension TokenStatus {
    fileprivate init?(admin json: JSONValue) {
        guard let state = IdentityState(json[Member.state]) else { return nil }
        self.init(
            target: TokenTarget(
                scope: json[Member.scope]?.words, audience: json[Member.audience]?.words,
                resource: json[Member.resource]?.words),
            state: state, expiresAt: WallTime(json[Member.expiresAt]),
            lastError: IdentityError(json[Member.lastError]))
    }

    /// One entry of an identity's `tokens`, where routes ask for their own.
    fileprivate var json: JSONValue {
        [
            Member.scope: JSONValue(words: target.scope ?? []),
            Member.audience: JSONValue(words: target.audience ?? []),
            Member.resource: JSONValue(words: target.resource ?? []),
            Member.state: .string(state.rawValue),
            Member.expiresAt: expiresAt.json,
            Member.lastError: lastError?.json ?? .null,
        ]
    }
}

extension IdentityState {
    fileprivate init?(_ json: JSONValue?) {
        guard let word = json?.string else { return nil }
        self.init(rawValue: word)
    }
}

extension IdentityError {
    fileprivate init?(_ json: JSONValue?) {
        guard let json, let code = json[Member.code]?.string else { return nil }
        self.init(code: code, detail: json[Member.detail]?.string ?? "", at: WallTime(json[Member.at]))
    }

    fileprivate var json: JSONValue {
        [Member.code: .string(code), Member.detail: .string(detail), Member.at: at.json]
    }
}

extension WallTime {
    fileprivate init?(_ json: JSONValue?) {
        guard let seconds = json?.string.flatMap({ Timestamp.unixSeconds($0) }) else { return nil }
        self.init(secondsSinceEpoch: seconds)
    }
}

extension WallTime? {
    fileprivate var json: JSONValue {
        map { .string(Timestamp.text(unixSeconds: $0.secondsSinceEpoch)) } ?? .null
    }
}

extension JSONValue {
    /// Words with a space between them.
    fileprivate init(words: [String]) { self = .string(words.joined(separator: " ")) }

    /// The words of a string that are not empty; nil for what is no string.
    fileprivate var words: [String]? { string?.split(separator: " ").map(String.init) }
}
