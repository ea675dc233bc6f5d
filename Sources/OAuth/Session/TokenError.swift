// SPDX-License-Identifier: Apache-2.0

/// Why a session has no access token to give.
public enum TokenError: ExplainedError, Equatable, Sendable {
    /// Only a person can help, by logging in.
    case loginRequired
    /// Only a change of the configuration, or at the authorization server, can help; worth asking again after `retryAfter`.
    case misconfigured(retryAfter: Duration)
    /// The authorization server did not answer, or not usefully; worth asking again after `retryAfter`.
    case unavailable(retryAfter: Duration)
    /// The store is away, may lack what others have, or somebody else keeps its lock, so that nothing may be asked of the
    /// authorization server; worth asking again after `retryAfter`.
    case storeUnavailable(retryAfter: Duration)
    /// The waiting task was cancelled.
    case cancelled
    /// The session was stopped, before or meanwhile.
    case stopped

    /// True if asking again later, with nothing changed by anybody, may work.
    public var isTransient: Bool {
        switch self {
        case .unavailable, .storeUnavailable, .cancelled: true
        case .loginRequired, .misconfigured, .stopped: false
        }
    }

    /// When asking again makes sense, if it does.
    public var retryAfter: Duration? {
        switch self {
        case .misconfigured(let delay), .unavailable(let delay), .storeUnavailable(let delay): delay
        case .loginRequired, .cancelled, .stopped: nil
        }
    }
}

extension TokenError {
    /// The reason and the remedy, for a person.
    public var sentence: String {
        switch self {
        case .loginRequired:
            "somebody must log in: there is no session, or the authorization server has ended it"
        case .misconfigured(let delay):
            "the authorization server refuses this client or its request: look at the configuration; "
                + "it is asked again in \(delay.inWholeSeconds)"
        case .unavailable(let delay):
            "the authorization server gave no token; try again in \(delay.inWholeSeconds)"
        case .storeUnavailable(let delay):
            "the store of the sessions cannot be used, may lack what others have, or another process keeps its lock, so no token is asked for; "
                + "try again in \(delay.inWholeSeconds)"
        case .cancelled: "the task that waited for a token was cancelled"
        case .stopped: "the session was stopped: make another one of the same client"
        }
    }
}
