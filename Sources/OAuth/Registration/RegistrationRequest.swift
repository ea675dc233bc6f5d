// SPDX-License-Identifier: Apache-2.0

import BearerdJSON

/// A client registration request (RFC 7591 §3.1).
struct RegistrationRequest {
    let configuration: ClientConfiguration
    /// The redirect URI of logins.
    let redirectURI: String
    /// The public key for client assertions; nil if there is none.
    let publicKey: JSONObject?

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
        // The server chooses a method if none is configured.
        if configuration.authentication != .none {
            put(.tokenEndpointAuthMethod, .string(configuration.authentication.rawValue))
        }
        if !configuration.scope.isEmpty {
            put(.scope, .string(configuration.scope.joined(separator: " ")))
        }
        if let uri = configuration.postLogoutRedirectURI { put(.postLogoutRedirectURIs, list([uri])) }
        // A server takes `jwks` or `jwks_uri` (RFC 7591 §2).
        if let publicKey, configuration.registrationMetadata[RegistrationMember.jwksURI.rawValue] == nil {
            put(.jwks, .object(["keys": .array([.object(publicKey)])]))
        }
        for parameter in configuration.registrationParameters {
            object[parameter.name] = .string(parameter.value)
        }
        for (name, value) in configuration.registrationMetadata { object[name] = value }
        return object.serialized()
    }
}
