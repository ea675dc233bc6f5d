// SPDX-License-Identifier: Apache-2.0

/// Why a session has no access token to give.
public enum TokenError: Error, Equatable, Sendable {
    /// Only a person can help, by logging in.
    case loginRequired
    /// Only a change of the configuration, or at the provider, can help; worth asking again after `retryAfter`.
    case misconfigured(retryAfter: Duration)
    /// The provider did not answer, or not usefully; worth asking again after `retryAfter`.
    case unavailable(retryAfter: Duration)
    /// The store is away, so that nothing may be asked of the provider; worth asking again after `retryAfter`.
    case storeUnavailable(retryAfter: Duration)
    /// The waiting task was cancelled.
    case cancelled

    /// Whether asking again later, with nothing changed by anybody, may work.
    public var isTransient: Bool {
        switch self {
        case .unavailable, .storeUnavailable, .cancelled: true
        case .loginRequired, .misconfigured: false
        }
    }

    /// When asking again makes sense, if it does.
    public var retryAfter: Duration? {
        switch self {
        case .misconfigured(let delay), .unavailable(let delay), .storeUnavailable(let delay): delay
        case .loginRequired, .cancelled: nil
        }
    }
}
