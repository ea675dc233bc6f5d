// SPDX-License-Identifier: Apache-2.0

/// Which client we are.
extension AuthState {
    /// The session of a client that has only just been made.
    func registering(_ registration: ClientRegistration) -> StoredSession {
        let client = configured.registered(registration)
        var fresh = StoredSession(
            identity: session.identity, generation: session.generation + 1, binding: client.binding)
        fresh.registration = registration
        return fresh
    }

    /// The registration that counts; nil for the configured client.
    var registration: ClientRegistration? {
        configuration.clientID == configured.clientID ? nil : session.registration
    }

    /// The store holds this registration, or none: what belongs to another client is not ours.
    mutating func follow(_ registration: ClientRegistration?) {
        configuration = configured.registered(registration)
        binding = configuration.binding
    }
}
