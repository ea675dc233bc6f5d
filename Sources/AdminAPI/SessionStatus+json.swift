// SPDX-License-Identifier: Apache-2.0

package import BearerdJSON
internal import BearerdObservability
package import OAuth

extension SessionStatus {
    /// Reads ``json``; what only the daemon itself knows of expiry is missing.
    package init?(admin json: JSONValue) {
        guard let name = json[.name]?.string, let state = SessionState(json[.state]) else { return nil }
        self.init(
            name: name, state: state, generation: json.count(.generation) ?? 0,
            expiresAt: WallTime(json[.expiresAt]), lifetime: json[.lifetime]?.integer.map { .seconds($0) },
            scope: json[.scope]?.words ?? [], lastRefresh: WallTime(json[.lastRefresh]),
            lastError: LastError(json[.lastError]),
            tokens: json[.tokens]?.array?.compactMap { TokenStatus(admin: $0) } ?? [])
        personName = json[.person]?.string
        nextRequest = WallTime(json[.nextRequest])
        isServing = json[.isServing]?.bool ?? false
        goesOnFromMemory = json[.goesOnFromMemory]?.bool ?? false
        isOnlyHere = json[.onlyInMemory]?.bool ?? false
        additionalParameters = AdditionalParameters(json[.additional]?.object ?? [:])
    }

    /// One entry of `identities`.
    package var json: JSONValue {
        let additional = additionalParameters.showable
        return JSONValue(admin: [
            .name: .string(name), .state: .string(state.rawValue), .generation: JSONValue(count: generation),
            .expiresAt: expiresAt.json, .scope: JSONValue(words: scope), .lastRefresh: lastRefresh.json,
            .lastError: lastError?.json ?? .null, .person: personName.map(JSONValue.string),
            .lifetime: lifetime.map { .integer($0.components.seconds) },
            .nextRequest: nextRequest.map { Optional($0).json },
            .additional: additional.isEmpty ? nil : .some(.object(additional)),
            .isServing: isServing ? .some(.bool(true)) : nil,
            .goesOnFromMemory: goesOnFromMemory ? .some(.bool(true)) : nil,
            .onlyInMemory: isOnlyHere ? .some(.bool(true)) : nil,
            .tokens: tokens.isEmpty ? nil : .some(.array(tokens.map(\.json))),
        ])
    }
}

extension TokenStatus {
    fileprivate init?(admin json: JSONValue) {
        guard let state = SessionState(json[.state]) else { return nil }
        self.init(
            target: TokenTarget(
                scope: json[.scope]?.words, audience: json[.audience]?.words,
                resource: json[.resource]?.words, repositories: json[.repositories]?.words,
                permissions: json[.permissions]?.object?.compactMap { name, value in
                    value.string.map { NamedValue(name, $0) }
                }),
            state: state, expiresAt: WallTime(json[.expiresAt]), lastError: LastError(json[.lastError]))
    }

    /// One entry of an identity's `tokens`, if routes have tokens of their own.
    fileprivate var json: JSONValue {
        JSONValue(admin: [
            .scope: JSONValue(words: target.scope ?? []), .audience: JSONValue(words: target.audience ?? []),
            .resource: JSONValue(words: target.resource ?? []),
            .repositories: target.repositories.map(JSONValue.init(words:)),
            .permissions: target.permissions.map { permissions in
                .object(JSONObject(members: permissions.map { ($0.name, .string($0.value)) }))
            },
            .state: .string(state.rawValue),
            .expiresAt: expiresAt.json, .lastError: lastError?.json ?? .null,
        ])
    }
}

extension SessionState {
    fileprivate init?(_ json: JSONValue?) {
        guard let word = json?.string else { return nil }
        self.init(rawValue: word)
    }
}

extension LastError {
    fileprivate init?(_ json: JSONValue?) {
        guard let json, let code = json[.code]?.string else { return nil }
        let stores: [StoreError] = [.busy(by: nil), .unavailable("")]
        self.init(
            code: code, detail: json[.detail]?.string ?? "", at: WallTime(json[.at]),
            isAboutStore: stores.contains { $0.code == code })
    }

    fileprivate var json: JSONValue {
        JSONValue(admin: [.code: .string(code), .detail: .string(detail), .at: at.json])
    }
}

extension WallTime {
    /// A time in RFC 3339.
    init?(_ json: JSONValue?) {
        guard let seconds = json?.string.flatMap({ Timestamp.unixSeconds($0) }) else { return nil }
        self.init(secondsSinceEpoch: seconds)
    }
}

extension WallTime? {
    /// The time in RFC 3339, in UTC; null for none.
    var json: JSONValue {
        map { .string(Timestamp.text(unixSeconds: $0.secondsSinceEpoch)) } ?? .null
    }
}

extension JSONValue {
    fileprivate init(words: [String]) { self = .string(words.joined(separator: " ")) }

    /// The words of a string; nil for any other value.
    fileprivate var words: [String]? { string?.split(separator: " ").map(String.init) }
}
