// SPDX-License-Identifier: Apache-2.0

package import BearerdJSON
package import OAuth

/// The result of a registration as JSON; never the secret.
package struct RegistrationReport: Sendable {
    package let clientID: String
    /// The expiry of the client's secret; nil if it does not expire or there is none.
    package let secretExpiry: WallTime?

    package init(clientID: String, secretExpiry: WallTime?) {
        self.clientID = clientID
        self.secretExpiry = secretExpiry
    }

    package init(_ registration: ClientRegistration) {
        clientID = registration.clientID
        secretExpiry = registration.secretExpiry
    }

    package init?(_ json: JSONValue) {
        guard let clientID = json[.clientID]?.string else { return nil }
        self.clientID = clientID
        secretExpiry = json[.secretExpiry]?.integer.map(WallTime.init(secondsSinceEpoch:))
    }

    /// `{"client_id":"…","client_secret_expires_at":null}`; a date is in seconds since 1970.
    package var json: JSONValue {
        JSONValue(admin: [
            .clientID: .string(clientID),
            .secretExpiry: secretExpiry.map { .integer($0.secondsSinceEpoch) } ?? .null,
        ])
    }
}
