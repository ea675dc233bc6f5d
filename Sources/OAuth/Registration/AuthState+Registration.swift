// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// The registered client.
extension AuthState {
    /// The session after a registration.
    func registering(_ registration: ClientRegistration) -> StoredSession {
        session.replaced(byClient: registration, of: configured)
    }

    /// The registration in use; nil for the configured client.
    var registration: ClientRegistration? {
        ownClient.clientID == configured.clientID ? nil : session.registration
    }

    /// The client that logs in: the registered one, else the configured one.
    var ownClient: ClientConfiguration { configured.registered(session.registration) }

    /// The secret of the client that the session belongs to, if it is not the configured one.
    var presentedSecret: Secret? {
        configuration.clientID == ownClient.clientID
            ? registration?.clientSecret : session.grantClient?.clientSecret
    }

    /// Takes over the client of a stored session.
    mutating func follow(_ stored: StoredSession) {
        configuration = configured.registered(stored.registration).registered(stored.grantClient)
        binding = configuration.binding
    }
}
