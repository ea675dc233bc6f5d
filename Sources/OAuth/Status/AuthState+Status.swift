// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// What people see.
extension AuthState {
    /// The one word: the first that applies.
    package func state(at now: Instant) -> IdentityState {
        if configuration.exchangesCallersTokens {
            guard let failure else { return .authorized }
            return failure.failure.kind == .misconfigured ? .misconfigured : .unavailable
        }
        let isUsable = access?.isUsable(at: now) ?? false
        if isUnread, !isUsable { return attempt == nil ? .unavailable : .refreshing }
        if isLoginRequired || !canRenew && !isUsable { return .loginRequired }
        if failure?.failure.kind == .misconfigured || isBarred { return .misconfigured }
        if unauthorized != nil { return .authorizationError }
        if !isUsable, failure != nil { return .unavailable }
        if !isUsable, attempt != nil { return .refreshing }
        return isUsable ? .authorized : .empty
    }

    /// All that may be shown.
    package func status(at now: Instant) -> IdentityStatus {
        var status = IdentityStatus(
            name: configuration.name, state: state(at: now), generation: session.generation,
            expiresAt: expiresAt, expiry: access?.snapshot.expiry,
            lifetime: access?.finiteLifetime,
            scope: session.scope.filter { !SecretListing.isRepeated(in: $0) },
            lastRefresh: session.lastRefresh,
            lastError: lastError)
        if status.state == .authorized, status.lastError == nil, let scopeChange {
            status.lastError = IdentityError(code: IdentityError.scopeChanged, detail: scopeChange.sentence)
        }
        status.additionalParameters = additionalParameters
        status.isAsking = attempt != nil
        status.isOnlyInMemory = needsSaving && isIrreplaceable && lastStoreError != nil
        status.needsNoToken = configuration.exchangesCallersTokens
        return status
    }

    /// What another login would change; nil where none is needed.
    var scopeChange: ScopeChange? { ScopeChange(of: session, for: configured) }

    /// What a refresh names, where it names a scope at all, of a login that asked for another one than is configured:
    /// the configured one may be more than was granted (RFC 6749 §6).
    var scopeOfOwnLogin: [String]? {
        let namesConfigured =
            !configuration.isForRoute
            && (configuration.sendsScopeOnRefresh || configuration.grantType == .refreshToken)
        return session.isLoginScopeOwn && namesConfigured ? session.loginScope : nil
    }

    /// What else the provider said: of the client that it made, of the login, with tokens.
    private var additionalParameters: AdditionalParameters {
        let made = registration?.additionalParameters ?? AdditionalParameters()
        let secrets =
            session.accessTokens.map(\.token) + [session.refreshToken, session.idToken].compactMap(\.self)
        return made.updated(with: session.additionalParameters)
            .without(secrets + [registration?.clientSecret].compactMap(\.self))
    }

    /// nil too where the store's access token is another one, for another daemon's scope.
    private var expiresAt: WallTime? {
        guard let stored = session[request], stored.generation == access?.snapshot.generation,
            access?.finiteLifetime != nil
        else { return nil }
        return stored.expiresAt
    }

    private var lastError: IdentityError? {
        if let storeTrouble { return IdentityError(storeTrouble) }
        if let failure {
            return IdentityError(code: failure.failure.code, detail: failure.failure.detail, at: failure.at)
        }
        if let refusal = session.refusal {
            return IdentityError(
                code: refusal.rawValue,
                detail: "\(configuration.issuer ?? "the authorization server") refused for good", at: nil)
        }
        if let code = session.barredRequests[request] {
            return IdentityError(
                code: code.rawValue,
                detail:
                    "the authorization server refused this scope or resource, and may have spent the refresh "
                    + "token; it is asked again once the configuration is changed, or a person asks for a refresh",
                at: nil)
        }
        if holdsOthersSession, access == nil {
            return IdentityError(
                code: "other_client",
                detail:
                    "the stored session belongs to another client_id or issuer, and is kept until somebody logs in",
                at: nil)
        }
        guard unauthorized != nil else { return nil }
        return IdentityError(
            code: IdentityState.authorizationError.rawValue,
            detail: "a resource server answered 401 to the newest access token", at: nil)
    }
}
