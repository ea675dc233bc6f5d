// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON

extension ClientRegistration {
    /// The members of the stored object.
    private enum Member: String {
        case clientID = "client_id"
        case clientSecret = "client_secret"
        case secretExpirySeconds = "client_secret_expires_at"
        case authentication = "token_endpoint_auth_method"
        case replacedClientID = "replaced_client_id"
        case additionalParameters = "additional_parameters"
    }

    /// The stored object, with the secret in the clear.
    var json: JSONObject {
        var object = JSONObject()
        object[Member.clientID.rawValue] = .string(clientID)
        object[Member.clientSecret.rawValue] = clientSecret.map { .string($0.withPlaintext { $0 }) }
        object[Member.secretExpirySeconds.rawValue] = secretExpiry.map { .integer($0.secondsSinceEpoch) }
        object[Member.authentication.rawValue] = .string(authentication.rawValue)
        object[Member.replacedClientID.rawValue] = .string(replacedClientID)
        if !additionalParameters.isEmpty {
            object[Member.additionalParameters.rawValue] = .object(additionalParameters.members)
        }
        return object
    }

    /// Reads ``json``; nil if it is damaged.
    init?(_ object: JSONObject) {
        func string(_ member: Member) -> String? { object[member.rawValue]?.string }
        guard let clientID = string(.clientID), let replaced = string(.replacedClientID),
            let authentication = string(.authentication).flatMap(ClientAuthentication.init(rawValue:))
        else { return nil }
        let expiry = object[Member.secretExpirySeconds.rawValue]?.integer
        self.init(
            clientID: clientID, clientSecret: string(.clientSecret).map { Secret($0) },
            secretExpiry: expiry.flatMap { 0...(1 << 40) ~= $0 ? WallTime(secondsSinceEpoch: $0) : nil },
            authentication: authentication, replacedClientID: replaced)
        additionalParameters = AdditionalParameters(
            object[Member.additionalParameters.rawValue]?.object ?? [:])
    }
}
