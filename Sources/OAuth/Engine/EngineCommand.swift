// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// A change of the session that somebody asks for.
enum EngineCommand: Sendable {
    /// The tokens of a login, judged, take the session's place.
    case login(TokenResponse, TargetID, sentAt: Instant, wall: WallTime)
    /// The session ends here at once. Unless it `isLocal`, what the authorization server still answers to earlier requests is
    /// revoked; the caller revokes what ``CommandResult/loggedOut(_:_:)`` names.
    case logout(isLocal: Bool)
    /// A session of another program takes the session's place, unless it is there already.
    case importing(SessionImport)
    /// The code and the request of a login that wait in the store are changed.
    case keeping(@Sendable (PendingLogin) -> PendingLogin)
    /// The server makes a client. The session of the client before ends.
    case register(redirectURI: String)
    /// The server forgets these tokens, and so does the session.
    case revoke([TokenHint])
    /// A session that is in memory only is written now.
    case write

    /// True if the session that there was ends, so that no answer to its requests counts.
    var endsSession: Bool {
        switch self {
        case .login, .logout: true
        case .importing, .keeping, .register, .revoke, .write: false
        }
    }
}

/// A login that waits in the store for the rest of it.
struct PendingLogin: Sendable {
    /// The code to exchange.
    var code: AuthorizationCode?
    /// The request whose response is awaited.
    var request: Secret?
    /// The generation of the session beside it.
    var generation = 0
}

/// A session that another program began.
struct SessionImport: Sendable {
    var refreshToken: Secret
    var idToken: Secret?
    var scope: [String] = []
    /// The client that the refresh token was issued to; nil for the one that logs in here.
    var clientID: String?
    var clientSecret: Secret?
    var person: Person?

    init(refreshToken: Secret) {
        self.refreshToken = refreshToken
    }
}

/// The authorization server's part of a command.
enum CommandResponse: Sendable {
    case registered(ClientRegistration)
    /// The tokens that the authorization server forgot, and why it kept others.
    case revoked(Set<TokenHint>, TokenFailure?)
}

/// The outcome of a command.
enum CommandResult: Sendable {
    /// It is stored.
    case done
    /// Nothing had to change.
    case unchanged
    /// It counts, and is in memory alone so far; the engine goes on trying to write it.
    case unwritten(StoreError)
    /// Somebody else logged in or out later, which counts instead.
    case outdone
    /// Nothing has changed; a store that does not answer may still write it.
    case failed(StoreError)
    /// The authorization server did not do it, or only in part.
    case refused(TokenFailure)
    /// A logout; the session that ended, for its tokens to be revoked; why the store still holds it.
    case loggedOut(StoredSession, StoreError?)
    case registered(ClientRegistration)
    case revoked(Set<TokenHint>)
}
