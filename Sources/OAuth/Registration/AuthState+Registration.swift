// SPDX-License-Identifier: Apache-2.0

import Cryptography

/// Which client we are.
extension AuthState {
    /// The session of a client that has only just been made.
    func registering(_ registration: ClientRegistration) -> StoredSession {
        session.replaced(byClient: registration, of: configured)
    }

    /// The registration that counts; nil for the configured client.
    var registration: ClientRegistration? {
        ownClient.clientID == configured.clientID ? nil : session.registration
    }

    /// The client that logs in: the one that was registered, if one was, else the configured one.
    var ownClient: ClientConfiguration { configured.registered(session.registration) }

    /// What the client that asks proves itself with, if that is not of the configuration.
    var presentedSecret: Secret? {
        configuration.clientID == ownClient.clientID
            ? registration?.clientSecret : session.grantClient?.clientSecret
    }

    /// The store holds this session: what belongs to another client is not ours.
    mutating func follow(_ stored: StoredSession) {
        configuration = configured.registered(stored.registration).registered(stored.grantClient)
        binding = configuration.binding
    }
}
