// SPDX-License-Identifier: Apache-2.0

/// The status of an identity, without secrets.
public struct SessionStatus: Equatable, Sendable {
    /// The ``ClientConfiguration/name``.
    public var name: String
    /// The state of the identity and its tokens.
    public var state: SessionState
    /// The number of stored changes of the session, counted across processes and restarts.
    public var generation: Int
    /// The civil time at which the current access token expires; nil if there is none.
    public var expiresAt: WallTime?
    /// The monotonic time at which the current access token expires, which decides if it is sent.
    public var expiry: Instant?
    /// The lifetime that the current access token had when it was issued.
    public var lifetime: Duration?
    /// The granted scope; the requested one if the token response had no `scope` (RFC 6749 §5.1).
    public var scope: [String]
    /// The time of the last successful token request of any process that shares the store.
    public var lastRefresh: WallTime?
    /// The last failure since ``lastRefresh``.
    public var lastError: LastError?
    /// A name for the person to show, from the ID token: `preferred_username`, else `email`, else `sub`.
    public var personName: String?
    /// The time of the next automatic token request; nil if there is none, or it is in flight.
    public var nextRequest: WallTime?
    /// Other members of the authorization server's answers.
    public var additionalParameters = AdditionalParameters()
    /// True if there is an access token that can be sent, whatever the state.
    package var isServing = false
    /// True while a token request is under way.
    package var isAsking = false
    /// True until the store has answered for the first time, so that nobody knows yet if there is a session.
    package var isBeingRead = false
    /// True if a restart would lose the newest session, which nobody can get again without a person: it is in this process's
    /// memory alone, or where the next one will not look for it.
    package var isOnlyHere = false
    /// False if a token request could not succeed: it would need a person, or another client's session is in the store.
    package var isRenewable = true
    /// True if the store takes no writes, and tokens are renewed all the same.
    package var goesOnFromMemory = false
    /// True if the identity is ready without a token of its own, because callers bring theirs.
    package var needsNoToken = false
    /// The status of each access token, if the session has several; else empty.
    public var tokens: [TokenStatus] = []

    /// A status read from another process's answer; its monotonic times belong to that process.
    package init(
        name: String, state: SessionState, generation: Int, expiresAt: WallTime? = nil,
        expiry: Instant? = nil,
        lifetime: Duration? = nil, scope: [String], lastRefresh: WallTime? = nil,
        lastError: LastError? = nil, tokens: [TokenStatus] = []
    ) {
        self.name = name
        self.state = state
        self.generation = generation
        self.expiresAt = expiresAt
        self.expiry = expiry
        self.lifetime = lifetime
        self.scope = scope
        self.lastRefresh = lastRefresh
        self.lastError = lastError
        self.tokens = tokens
    }

    /// True if the store cannot do what it is asked, and not because another process is at work.
    package var isStoreAway: Bool {
        lastError.map { $0.isAboutStore && $0.storeError?.isBusy != true } ?? false
    }

    /// True if another process keeps the session's lock, so that nobody here can tell what fails.
    package var waitsForAnother: Bool { lastError?.code == StoreError.busy(by: nil).code }

    /// Whoever keeps that lock, by the last error: another process, or a request of before a reload.
    package var lockKeeper: String {
        lastError?.storeError == .busy(by: StoreError.thisProcess)
            ? StoreError.thisProcess : "another process"
    }

    /// Why there may soon be no token, or no session, although nothing fails now; nil if there is no such reason.
    package var comingTrouble: LastError? {
        guard let lastError, lastError.isFailure, !waitsForAnother else { return nil }
        switch state {
        case .authorized, .refreshing, .empty: return lastError
        case .misconfigured, .loginRequired: return isServing ? lastError : nil
        case .authorizationError, .unavailable: return nil
        }
    }

    /// When the first token that has ``comingTrouble`` expires; nil if it does not, or there is none.
    package var troubleEndsAt: WallTime? {
        guard !tokens.isEmpty else { return expiresAt }
        return tokens.filter { $0.state == state && $0.lastError != nil }.compactMap(\.expiresAt).min()
    }

    /// True if requests wait for a token, and nothing has failed that people were told of.
    package var waitsForToken: Bool {
        (state == .refreshing || isBeingRead) && !needsNoToken && comingTrouble == nil
    }

    /// Returns true if the identity has an access token that can be sent at `now`.
    public func hasUsableToken(at now: Instant) -> Bool {
        if needsNoToken { return true }
        guard let expiry else { return false }
        return now < expiry
    }
}
