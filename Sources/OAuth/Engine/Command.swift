// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// A change of the session that somebody asks for.
enum Command: Sendable {
    /// What a login brought, judged, takes the session's place.
    case login(TokenResponse, sentAt: Instant, wall: WallTime)
    /// The session ends here at once. Unless it `isLocal`, what the provider still answers to earlier requests is
    /// revoked; the caller revokes what ``CommandResult/loggedOut(_:_:)`` names.
    case logout(isLocal: Bool)
    /// What another program began takes the session's place, unless it is there already.
    case importing(ImportedSession)
    /// A login's code, or its request, waits in the store; nil for none.
    case keeping(AuthorizationCode?, request: Secret?)
    /// The server makes a client. Whatever session there was ends with the client before.
    case register(redirectURI: String)
    /// The server forgets these tokens, and so does the session.
    case revoke([TokenHint], of: StoredSession?)

    /// Whether the session that there was ends, so that no answer to its requests counts.
    var endsSession: Bool {
        switch self {
        case .login, .logout: true
        case .importing, .keeping, .register, .revoke: false
        }
    }
}

/// A session that another program began.
struct ImportedSession: Sendable {
    var refreshToken: Secret
    var idToken: Secret?
    var scope: [String] = []
    /// The client that it belongs to, if that is not the one that logs in.
    var client: ClientRegistration?
    var person: Person?

    init(refreshToken: Secret) {
        self.refreshToken = refreshToken
    }
}

/// What the provider made of a command.
enum CommandAnswer: Sendable {
    case registered(ClientRegistration)
    /// The tokens that it forgot, and why it kept others.
    case revoked(Set<TokenHint>, TokenFailure?)
}

/// What became of a command.
enum CommandResult: Sendable {
    /// It is stored.
    case done
    /// Nothing had to change.
    case unchanged
    /// It counts, and is in memory alone so far; the engine goes on trying to write it.
    case unwritten(StoreError)
    /// Somebody else logged in or out later, which counts instead.
    case outdone
    /// Nothing has changed.
    case failed(StoreError)
    /// The provider did not do it, or only in part.
    case refused(TokenFailure)
    /// A logout; the session that ended, for its tokens to be revoked; why the store still holds it.
    case loggedOut(StoredSession, StoreError?)
    case registered(ClientRegistration)
    case revoked(Set<TokenHint>)
}
