// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography

/// The session's tokens and facts, for programs that need them by themselves.
///
/// Where the session was not started, each of these looks at the store first.
extension AuthSession {
    /// Looks at the store where nobody has the session look by itself, and it has no token to go on with.
    func loadForFirstUse(until deadline: Instant) async {
        if !isStarted, !isStopped, engine.targets[target]?.usable(at: clock.now) == nil {
            await core.look(until: deadline)
        }
    }

    /// The engine with the state of the identity, which is the store's, started or not.
    var known: IdentityEngine {
        get async {
            if !isStarted, !isStopped { await core.look() }
            return engine.told
        }
    }

    /// The newest refresh token; whoever sends it to the authorization server spends it, and takes over what the session does.
    public var refreshToken: Secret? { get async { await known.session.refreshToken } }

    /// `token_type` of the newest access token, as the authorization server spelled it; nil where there is none, or it said
    /// none.
    public var tokenType: String? {
        get async {
            let engine = await known
            return engine.targets[target].flatMap { engine.session[$0.request]?.tokenType }
        }
    }

    /// The person whose session it is: by the ID token, else by what was imported with it.
    public var person: Person? {
        get async {
            let session = await known.session
            guard let idToken = session.idToken.flatMap({ try? IDToken(parsing: $0) }) else {
                return session.person
            }
            return Person(
                id: idToken.subject, email: idToken.email ?? session.person?.email,
                isEmailVerified: idToken.email == nil
                    ? session.person?.isEmailVerified ?? false : idToken.isEmailVerified)
        }
    }

    /// The client that the session belongs to: the configured one, the one that was registered, or the one that began
    /// what was imported.
    public var clientID: String { get async { await known.client(of: target).clientID } }

    /// Scope tokens granted, or asked for where the authorization server named none.
    public var scope: [String] { get async { await known.session.scope } }

    /// Members of the authorization server's token answers that no RFC of ours knows, the newest of each.
    public var additionalParameters: AdditionalParameters {
        get async { await known.session.additionalParameters }
    }

    /// The client that the authorization server made, if one was registered.
    public var registration: ClientRegistration? { get async { await known.registration } }

    /// True if there is a token or a refresh token (AppAuth's `isAuthorized`); false for a grant that needs neither before its
    /// first token.
    public var isAuthorized: Bool {
        get async {
            let engine = await known
            guard let state = engine.targets[target], !engine.isLoginRequired(state) else { return false }
            return state.usable(at: clock.now) != nil || engine.session.refreshToken != nil
        }
    }

    /// True if only a person can help, by logging in.
    public var needsLogin: Bool { get async { await presentState == .loginRequired } }

    /// The state of this session at this moment.
    var presentState: SessionState { get async { await known.status(of: target, at: clock.now).state } }

    /// True if a token request is under way (GTMAppAuth's `isAuthorizing`).
    public var isAuthorizing: Bool { engine.targets[target]?.attempt != nil }

    /// Has the token renewed before the next request gets one (AppAuth's `setNeedsTokenRefresh`).
    ///
    /// Nothing is asked for before that. If the renewal fails or takes too long, the present token goes on being used while it
    /// lasts; ``invalidate(waitingAtMost:)`` is for one that must not.
    public func setNeedsTokenRefresh() {
        join()
        take(.renewalNeeded(target))
    }

    /// The session's events from now on, the newest hundred for a slow reader; the stream ends when its reader does, or the
    /// session stops.
    public nonisolated var events: AsyncStream<SessionEvent> { core.listeners.stream(keeping: 100) }
}
