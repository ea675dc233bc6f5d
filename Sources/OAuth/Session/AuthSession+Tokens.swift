// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography

/// What the session holds, for programs that need it by itself.
///
/// Where the session was not started, each of these looks at the store first.
extension AuthSession {
    /// Looks at the store where nobody has the session look by itself, and it has no token to go on with.
    func loadForFirstUse() async {
        if !isStarted, !isStopped, state.access?.isUsable(at: clock.now) != true { await adoptStored() }
    }

    /// What is known of the session, which is what the store holds, started or not.
    private var known: AuthState {
        get async {
            if !isStarted, !isStopped { await adoptStored() }
            return state
        }
    }

    /// The newest refresh token; whoever sends it to the provider spends it, and takes over what the session does.
    public var refreshToken: Secret? { get async { await known.session.refreshToken } }

    /// `token_type` of the newest access token, as the provider spelled it; nil where there is none, or it said none.
    public var tokenType: String? {
        get async {
            let state = await known
            return state.session[state.request]?.tokenType
        }
    }

    /// Whose session it is: what the id token says, else what was imported with it.
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
    public var clientID: String { get async { await known.configuration.clientID } }

    /// Scope tokens granted, or asked for where the provider named none.
    public var scope: [String] { get async { await known.session.scope } }

    /// Members of the provider's token answers that no RFC of ours knows, the newest of each.
    public var additionalParameters: AdditionalParameters {
        get async { await known.session.additionalParameters }
    }

    /// The client that the provider made, if one was registered.
    public var registration: ClientRegistration? { get async { await known.registration } }

    /// Whether there is a token, or one can be had without a person (AppAuth's `isAuthorized`).
    public var isAuthorized: Bool {
        get async {
            let state = await known
            guard !state.isLoginRequired else { return false }
            return state.access?.isUsable(at: clock.now) ?? false || state.session.refreshToken != nil
        }
    }

    /// Whether only a person can help, by logging in.
    public var needsLogin: Bool { get async { await presentState == .loginRequired } }

    /// The state of this session at this moment.
    var presentState: IdentityState { get async { await known.state(at: clock.now) } }

    /// Whether a token request is under way (GTMAppAuth's `isAuthorizing`).
    public var isAuthorizing: Bool { state.attempt != nil }

    /// Has the token renewed before the next request gets one (AppAuth's `setNeedsTokenRefresh`).
    ///
    /// Nothing is asked for before that. If the renewal fails or takes too long, the present token goes on being used while it
    /// lasts; ``invalidate(waitingAtMost:)`` is for one that must not.
    public func setNeedsTokenRefresh() {
        state.refreshNeeded()
        advance()
    }

    /// What happens to the session from now on; ends when its reader does, or the session stops.
    public nonisolated var events: AsyncStream<SessionEvent> { listeners.stream(keeping: 100) }
}
