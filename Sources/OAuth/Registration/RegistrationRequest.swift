// SPDX-License-Identifier: Apache-2.0

import JSON

/// What the server is told of the client that it shall make (RFC 7591 §3.1).
struct RegistrationRequest {
    let configuration: ClientConfiguration
    /// The redirect URI that logins come back to.
    let redirectURI: String

    var body: [UInt8] {
        var object = JSONObject()
        func put(_ member: RegistrationMember, _ value: JSONValue) { object[member.rawValue] = value }
        func list(_ values: [String]) -> JSONValue { .array(values.map(JSONValue.string)) }
        put(.clientName, .string(configuration.clientName ?? configuration.name))
        put(.applicationType, "native")
        switch configuration.grantType {
        case .authorizationCode, .refreshToken:
            put(.redirectURIs, list([redirectURI]))
            put(.grantTypes, list([GrantType.authorizationCode, .refreshToken].map(\.rawValue)))
            put(.responseTypes, list(["code"]))
        case .deviceCode:
            put(.grantTypes, list([GrantType.deviceCode, .refreshToken].map(\.rawValue)))
            put(.responseTypes, list([]))
        default:
            put(.grantTypes, list([configuration.grantType.rawValue]))
            put(.responseTypes, list([]))
        }
        // What nobody configured is the server's to choose.
        if configuration.authentication != .none {
            put(.tokenEndpointAuthMethod, .string(configuration.authentication.rawValue))
        }
        if !configuration.scope.isEmpty {
            put(.scope, .string(configuration.scope.joined(separator: " ")))
        }
        for parameter in configuration.registrationParameters {
            object[parameter.name] = .string(parameter.value)
        }
        return object.serialized()
    }
}
