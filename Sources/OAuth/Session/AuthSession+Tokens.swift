// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography

/// What the session holds, for programs that need it by itself.
extension AuthSession {
    /// The newest refresh token; whoever sends it to the provider spends it, and takes over what the session does.
    public var refreshToken: Secret? { state.session.refreshToken }

    /// `token_type` of the newest access token, as the provider spelled it; nil where there is none, or it said none.
    public var tokenType: String? { state.session[state.request]?.tokenType }

    /// Whose session it is: what the id token says, else what was imported with it.
    public var person: Person? {
        guard let idToken = state.session.idToken.flatMap({ try? IDToken(parsing: $0) }) else {
            return state.session.person
        }
        return Person(
            id: idToken.subject, email: idToken.email ?? state.session.person?.email,
            isEmailVerified: idToken.email == nil
                ? state.session.person?.isEmailVerified ?? false : idToken.isEmailVerified)
    }

    /// The client that the session belongs to: the configured one, the one that was registered, or the one that began
    /// what was imported.
    public var clientID: String { state.configuration.clientID }

    /// Scope tokens granted, or asked for where the provider named none.
    public var scope: [String] { state.session.scope }

    /// Members of the provider's token answers that no RFC of ours knows, the newest of each.
    public var additionalParameters: AdditionalParameters { state.session.additionalParameters }

    /// The client that the provider made, if one was registered.
    public var registration: ClientRegistration? { state.registration }

    /// Whether there is a token, or one can be had without a person (AppAuth's `isAuthorized`).
    public var isAuthorized: Bool {
        guard !state.isLoginRequired else { return false }
        return state.access?.isUsable(at: clock.now) ?? false || state.session.refreshToken != nil
    }

    /// Whether only a person can help, by logging in.
    public var needsLogin: Bool { state.state(at: clock.now) == .loginRequired }

    /// What happens to the session from now on; ends when its reader does, or the session stops.
    public nonisolated var events: AsyncStream<SessionEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SessionEvent.self, bufferingPolicy: .bufferingNewest(100))
        listeners.add(continuation)
        return stream
    }
}
