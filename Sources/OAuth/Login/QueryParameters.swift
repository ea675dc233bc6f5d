// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import BearerdJSON

/// The parameters of a query (`application/x-www-form-urlencoded`, RFC 6749 appendix B).
struct QueryParameters {
    private var values: [String: String] = [:]

    /// The parameters that are no ``AuthorizationParameter``, sorted by name.
    var additional: AdditionalParameters {
        let unknown = values.filter { AuthorizationParameter(rawValue: $0.key) == nil }
        return AdditionalParameters(
            JSONObject(members: unknown.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
    }

    /// - Parameter query: without the `?`.
    /// - Returns: nil for a broken encoding, and for a name that occurs twice (RFC 6749 §3.1).
    init?(_ query: String) {
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let mark = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard let name = PercentEncoding.decode(pair[..<mark], isForm: true),
                let value = PercentEncoding.decode(pair[mark...].dropFirst(), isForm: true),
                values.updateValue(value, forKey: name) == nil
            else { return nil }
        }
    }

    /// The value of a parameter; one without a value counts as omitted (RFC 6749 §3.1).
    subscript(parameter: AuthorizationParameter) -> String? {
        values[parameter.rawValue].flatMap { $0.isEmpty ? nil : $0 }
    }
}
