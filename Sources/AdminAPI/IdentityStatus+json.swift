// SPDX-License-Identifier: Apache-2.0

package import JSON
package import OAuth
internal import Observability

extension IdentityStatus {
    /// Reads what ``json`` wrote; what only its own process can know of expiry is missing.
    package init?(admin json: JSONValue) {
        guard let name = json[AdminMember.name]?.string, let state = IdentityState(json[AdminMember.state])
        else {
            return nil
        }
        self.init(
            name: name, state: state, generation: json[AdminMember.generation]?.integer.map { Int($0) } ?? 0,
            expiresAt: WallTime(json[AdminMember.expiresAt]),
            lifetime: json[AdminMember.lifetimeSeconds]?.integer.map { .seconds($0) },
            scope: json[AdminMember.scope]?.words ?? [],
            lastRefresh: WallTime(json[AdminMember.lastRefresh]),
            lastError: IdentityError(json[AdminMember.lastError]),
            tokens: json[AdminMember.tokens]?.array?.compactMap { TokenStatus(admin: $0) } ?? [])
        person = json[AdminMember.person]?.string
        nextRequest = WallTime(json[AdminMember.nextRequest])
        additionalParameters = AdditionalParameters(json[AdminMember.additional]?.object ?? [:])
    }

    /// One entry of `identities`.
    package var json: JSONValue {
        var entry: JSONObject = [
            AdminMember.name: .string(name),
            AdminMember.state: .string(state.rawValue),
            AdminMember.generation: .integer(Int64(generation)),
            AdminMember.expiresAt: expiresAt.json,
            AdminMember.scope: JSONValue(words: scope),
            AdminMember.lastRefresh: lastRefresh.json,
            AdminMember.lastError: lastError?.json ?? .null,
        ]
        if let person { entry[AdminMember.person] = .string(person) }
        if let lifetime { entry[AdminMember.lifetimeSeconds] = .integer(lifetime.components.seconds) }
        if nextRequest != nil { entry[AdminMember.nextRequest] = nextRequest.json }
        let additional = additionalParameters.showable
        if !additional.isEmpty { entry[AdminMember.additional] = .object(additional) }
        if !tokens.isEmpty { entry[AdminMember.tokens] = .array(tokens.map(\.json)) }
        return .object(entry)
    }
}

extension TokenStatus {
    fileprivate init?(admin json: JSONValue) {
        guard let state = IdentityState(json[AdminMember.state]) else { return nil }
        self.init(
            target: TokenTarget(
                scope: json[AdminMember.scope]?.words, audience: json[AdminMember.audience]?.words,
                resource: json[AdminMember.resource]?.words),
            state: state, expiresAt: WallTime(json[AdminMember.expiresAt]),
            lastError: IdentityError(json[AdminMember.lastError]))
    }

    /// One entry of an identity's `tokens`, where routes ask for their own.
    fileprivate var json: JSONValue {
        [
            AdminMember.scope: JSONValue(words: target.scope ?? []),
            AdminMember.audience: JSONValue(words: target.audience ?? []),
            AdminMember.resource: JSONValue(words: target.resource ?? []),
            AdminMember.state: .string(state.rawValue),
            AdminMember.expiresAt: expiresAt.json,
            AdminMember.lastError: lastError?.json ?? .null,
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
        guard let json, let code = json[AdminMember.code]?.string else { return nil }
        self.init(
            code: code, detail: json[AdminMember.detail]?.string ?? "", at: WallTime(json[AdminMember.at]))
    }

    fileprivate var json: JSONValue {
        [AdminMember.code: .string(code), AdminMember.detail: .string(detail), AdminMember.at: at.json]
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
