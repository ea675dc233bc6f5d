// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// The part of a session that people see.
extension AuthSession {
    /// The identity as it may be shown; one that was not started looks at the store first.
    public var status: SessionStatus {
        get async {
            let engine = await known
            let (now, wall, target) = (clock.now, clock.wallNow, target)
            var status = engine.status(of: target, at: now)
            if let told = status.expiresAt, let expiry = status.expiry {
                let end = wall + (expiry - now)
                // The civil clock was set since: whoever compares what we tell with it is to find what is left.
                if max(end - told, told - end) > Self.clockStep { status.expiresAt = end }
            }
            status.personName = personsName(in: engine.session)
            status.nextRequest = engine.nextRequest(of: target, at: now).map { moment in
                wall + max(.zero, moment - now)
            }
            return status
        }
    }

    /// A clock that is only kept in step with others moves by less during the life of a token.
    private static let clockStep: Duration = .seconds(2)

    /// The name of the person who logged in, read once from each ID token; without one, of the imported session's person.
    private func personsName(in session: StoredSession) -> String? {
        guard let token = session.idToken else {
            return session.person.flatMap { $0.email ?? $0.id }.map { String($0.prefix(200)) }
        }
        if let known = knownPerson, known.generation == session.generation { return known.name }
        let name = (try? IDToken(parsing: token))?.personName.map { String($0.prefix(200)) }
            .flatMap { SecretListing.isRepeated(in: $0) ? nil : $0 }
        knownPerson = (session.generation, name)
        return name
    }

    /// The address of the authorization server that has not answered the attempt in flight yet.
    package var unanswered: String? { engine.targets[target]?.attempt == nil ? nil : server.pending }

    /// True if another process keeps the lock that the attempt in flight needs.
    package var awaitsLock: Bool {
        let engine = engine
        if case .locking = engine.phase { return engine.targets[target]?.attempt != nil }
        return false
    }

    /// True if ``stop()`` has something to wait for.
    package var isBusy: Bool {
        let engine = engine
        return engine.needsWriting || engine.targets.values.contains { $0.attempt != nil }
    }
}
