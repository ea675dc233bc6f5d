// SPDX-License-Identifier: Apache-2.0

package import BearerdJSON

/// The scope and parameters of one login that differ from the configured ones.
package struct LoginAdditions: Equatable, Sendable {
    private enum Member: String {
        case scope, parameters, checked
        case isScopeConfigured = "scope_configured"
    }

    /// Replaces the configured scope; nil for that.
    package var scope: [String]?
    /// True if ``scope`` is the one that was configured when the login began, and not its own.
    package var isScopeConfigured = false
    /// Replace configured parameters of the same names, and follow the others.
    package var parameters: [NamedValue] = []
    /// The parameters of the request that the ID token is held against; nil for those that are configured when it comes.
    var checked: [NamedValue]?

    /// True if the login is like all others.
    var isEmpty: Bool { scope == nil && parameters.isEmpty }

    package init(scope: [String]? = nil, parameters: [NamedValue] = []) {
        self.scope = scope
        self.parameters = parameters
    }

    /// Reads ``json``; missing and damaged members are left out.
    package init(_ object: JSONObject?) {
        scope = object?[Member.scope.rawValue]?.array?.compactMap(\.string)
        isScopeConfigured = object?[Member.isScopeConfigured.rawValue]?.bool ?? false
        func values(_ member: Member) -> [NamedValue]? {
            object?[member.rawValue]?.array?.compactMap { pair in
                guard let texts = pair.array?.compactMap(\.string), texts.count == 2 else { return nil }
                return NamedValue(texts[0], texts[1])
            }
        }
        parameters = values(.parameters) ?? []
        checked = values(.checked)
    }

    /// `scope` as an array, `parameters` and `checked` as arrays of pairs, `scope_configured` if that is so; nil if the first
    /// two are empty.
    package var json: JSONObject? {
        guard !isEmpty else { return nil }
        var object = JSONObject()
        if let scope { object[Member.scope.rawValue] = .array(scope.map(JSONValue.string)) }
        if isScopeConfigured { object[Member.isScopeConfigured.rawValue] = true }
        func put(_ values: [NamedValue], _ member: Member) {
            object[member.rawValue] = .array(values.map { .array([.string($0.name), .string($0.value)]) })
        }
        if !parameters.isEmpty { put(parameters, .parameters) }
        if let checked { put(checked, .checked) }
        return object
    }

    /// The same with the scope that a login asks for, so that a later configuration changes nothing of what it is checked
    /// against.
    func asking(for asked: [String]) -> LoginAdditions {
        var additions = self
        additions.isScopeConfigured = scope == nil
        additions.scope = asked
        return additions
    }

    /// The same with all that a login in a browser asks for, by `asked`, that it is checked against.
    func asking(by asked: ClientConfiguration) -> LoginAdditions {
        var additions = asking(for: asked.loginScope)
        additions.checked = asked.authorizationParameters.filter(IDTokenRules.checks)
        return additions
    }

    /// The configuration with these additions; `place` is its list of authorization or device parameters.
    ///
    /// - Throws: ``TokenFailure`` for a parameter without a name or with a built-in one.
    func asked(
        of configuration: ClientConfiguration, in place: WritableKeyPath<ClientConfiguration, [NamedValue]>
    ) throws(TokenFailure) -> ClientConfiguration {
        guard !isEmpty else { return configuration }
        var asking = configuration
        if let scope { asking.scope = scope }
        let names = Set(parameters.map(\.name))
        asking[keyPath: place].removeAll { names.contains($0.name) }
        asking[keyPath: place] += parameters
        if let problem = asking.parameterProblems.first {
            throw TokenFailure(.misconfigured, .badParameter, detail: problem)
        }
        return asking
    }
}
