// SPDX-License-Identifier: Apache-2.0

package import JSON
package import OAuth

/// The JSON that tells which client the provider made; never its secret.
package struct RegistrationReport: Sendable {
    package let clientID: String
    /// When its secret ends; nil if it does not, or there is none.
    package let secretExpiry: WallTime?

    private enum Member: String {
        case clientID = "client_id"
        case secretExpiry = "client_secret_expires_at"
    }

    package init(clientID: String, secretExpiry: WallTime?) {
        self.clientID = clientID
        self.secretExpiry = secretExpiry
    }

    package init(_ registration: ClientRegistration) {
        clientID = registration.clientID
        secretExpiry = registration.secretExpiry
    }

    /// Reads what ``json`` wrote.
    package init?(_ json: JSONValue) {
        guard let clientID = json[Member.clientID.rawValue]?.string else { return nil }
        self.clientID = clientID
        secretExpiry = json[Member.secretExpiry.rawValue]?.integer.map(WallTime.init(secondsSinceEpoch:))
    }

    /// `{"client_id":"…","client_secret_expires_at":null}`; a date is in seconds since 1970.
    package var json: JSONValue {
        [
            Member.clientID.rawValue: .string(clientID),
            Member.secretExpiry.rawValue: secretExpiry.map { .integer($0.secondsSinceEpoch) } ?? .null,
        ]
    }
}
