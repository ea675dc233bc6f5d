// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// What people see of a session.
extension AuthSession {
    /// What may be shown of the identity; one that was not started looks at the store first.
    public var status: IdentityStatus {
        get async {
            if !isStarted, !isStopped { await adoptStored() }
            let now = clock.now
            var status = state.status(at: now)
            status.person = personsName
            status.nextRequest = state.nextRequest(at: now).map { moment in
                clock.wallNow + max(.zero, moment - now)
            }
            return status
        }
    }

    /// Who logged in, read once from each id token; without one, who was imported with the session.
    private var personsName: String? {
        guard let token = state.session.idToken else {
            return state.session.person.flatMap { $0.email ?? $0.id }.map { String($0.prefix(200)) }
        }
        if let known = knownPerson, known.generation == state.session.generation { return known.name }
        let name = (try? IDToken(parsing: token))?.person.map { String($0.prefix(200)) }
            .flatMap { SecretListing.isRepeated(in: $0) ? nil : $0 }
        knownPerson = (state.session.generation, name)
        return name
    }

    /// The address of the provider that has not answered the attempt in flight yet.
    package var unanswered: String? { state.attempt == nil ? nil : server.pending }

    /// Whether ``stop()`` has something to wait for.
    package var isBusy: Bool { state.attempt != nil || isSaving || state.needsSaving }

    /// Secret, key or CA files changed.
    public func credentialsChanged() {
        state.credentialsChanged(at: clock.now)
        exchanges.failures = CallerFailures()
        advance()
    }
}
