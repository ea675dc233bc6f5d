// SPDX-License-Identifier: Apache-2.0

package import JSON

/// What one login asks for in place of, or beside, what the configuration has all of them ask for.
package struct LoginAdditions: Equatable, Sendable {
    private enum Member: String {
        case scope, parameters
    }

    /// In place of the configured scope; nil for that.
    package var scope: [String]?
    /// In place of the configuration's parameters of the same names, and after its others.
    package var parameters: [NamedValue] = []

    /// Whether the login is one like all others.
    var isEmpty: Bool { scope == nil && parameters.isEmpty }

    package init(scope: [String]? = nil, parameters: [NamedValue] = []) {
        self.scope = scope
        self.parameters = parameters
    }

    /// Reads what ``json`` made; what is missing or damaged is as if it had not been asked for.
    package init(_ object: JSONObject?) {
        scope = object?[Member.scope.rawValue]?.array?.compactMap(\.string)
        parameters = (object?[Member.parameters.rawValue]?.array ?? []).compactMap { pair in
            guard let texts = pair.array?.compactMap(\.string), texts.count == 2 else { return nil }
            return NamedValue(texts[0], texts[1])
        }
    }

    /// `scope` as an array, `parameters` as an array of pairs; nil where nothing is asked for.
    package var json: JSONObject? {
        guard !isEmpty else { return nil }
        var object = JSONObject()
        if let scope { object[Member.scope.rawValue] = .array(scope.map(JSONValue.string)) }
        if !parameters.isEmpty {
            object[Member.parameters.rawValue] = .array(
                parameters.map { .array([.string($0.name), .string($0.value)]) })
        }
        return object
    }

    /// The configuration that asks for this, in a browser or on another device.
    ///
    /// - Parameters:
    ///   - configuration: what all logins ask for.
    ///   - place: where the parameters are among what it says.
    /// - Throws: ``TokenFailure`` for a parameter that a login sends itself too, and one without a name.
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
