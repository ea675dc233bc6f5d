// SPDX-License-Identifier: Apache-2.0

/// What may be shown of an identity: no secret, everything else.
public struct IdentityStatus: Equatable, Sendable {
    /// The key under `identities` in the configuration.
    public var name: String
    /// One word for it all.
    public var state: IdentityState
    /// Counts every stored change of the identity, across processes and restarts.
    public var generation: Int
    /// When the present access token expires, if there is one, expired or not.
    public var expiresAt: WallTime?
    /// When the present access token expires, on the monotonic clock that decides whether it is sent.
    public var expiry: Instant?
    /// How long the present access token was good for when it came.
    public var lifetime: Duration?
    /// Scope tokens granted, or asked for where the answer named none.
    public var scope: [String]
    /// When a token request last succeeded, in any process that shares the store.
    public var lastRefresh: WallTime?
    /// The last failure since then.
    public var lastError: IdentityError?
    /// Who logged in, as the id token has it: `preferred_username`, `email`, else `sub`.
    public var person: String?
    /// When the next token request begins by itself; nil where none does, or one is under way.
    public var nextRequest: WallTime?
    /// What else the provider's answers had.
    public var additionalParameters = AdditionalParameters()
    /// True while a token request is under way.
    package var isAsking = false
    /// Whether it is ready without a token of its own, because callers bring theirs.
    package var needsNoToken = false
    /// Each access token, where routes ask for their own; else empty.
    public var tokens: [TokenStatus] = []

    /// A status as somebody else told it; monotonic moments are its own process's.
    package init(
        name: String, state: IdentityState, generation: Int, expiresAt: WallTime? = nil,
        expiry: Instant? = nil,
        lifetime: Duration? = nil, scope: [String], lastRefresh: WallTime? = nil,
        lastError: IdentityError? = nil, tokens: [TokenStatus] = []
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

    /// Whether the identity has an access token that can be sent at `now`.
    public func hasUsableToken(at now: Instant) -> Bool {
        if needsNoToken { return true }
        guard let expiry else { return false }
        return now < expiry
    }
}
