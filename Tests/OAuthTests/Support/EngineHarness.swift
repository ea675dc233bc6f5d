// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

@testable import OAuth

/// The rules of an ``IdentityEngine``, with a clock in the test's hand.
final class EngineHarness {
    var state: EngineState
    var now = ContinuousClock.now
    var wall = WallTime(secondsSinceEpoch: 1_700_000_000)
    var jitter = 0.0

    init(
        grantType: GrantType = .clientCredentials, refreshToken: String? = nil,
        _ configure: (inout ClientConfiguration) -> Void = { _ in }
    ) {
        var configuration = ClientConfiguration(name: "default", clientID: "app", grantType: grantType)
        configuration.issuer = "https://sso.example"
        configure(&configuration)
        state = EngineState(configuration, at: now)
        if let refreshToken { find(generation: 1, refreshToken: refreshToken) }
    }

    /// Another process, or an import, stored a session.
    @discardableResult
    func find(
        generation: Int, accessToken: String? = nil, lifetime: Duration = .seconds(300),
        refreshToken: String? = nil,
        refusal: ErrorCode? = nil, binding: String? = nil
    ) -> Bool {
        var stored = StoredSession(
            identity: "default", generation: generation, binding: binding ?? state.binding)
        stored.refreshToken = refreshToken.map { Secret($0) }
        stored.refusal = refusal
        stored.lastRefresh = wall
        stored.accessToken = accessToken.map {
            StoredAccessToken(
                token: Secret($0), generation: generation, expiresAt: wall + lifetime, lifetime: lifetime,
                request: state.request)
        }
        return find(stored)
    }

    /// The store turns out to hold this.
    @discardableResult
    func find(_ stored: StoredSession) -> Bool {
        state.found(stored, at: now, wall: wall, jitter: jitter)
    }

    func pass(_ duration: Duration) {
        now += duration
        wall = wall + duration
    }

    /// Whether an attempt begins at this moment.
    func begins() -> Bool { state.nextAction(at: now, jitter: jitter) != nil }

    /// A whole attempt that brings a token.
    func renew(to token: String = "at", lifetime: Duration? = .seconds(300), refreshToken: String? = nil) {
        _ = state.nextAction(at: now, jitter: jitter)
        land(token, lifetime: lifetime, refreshToken: refreshToken)
    }

    /// The attempt in flight brings a token.
    func land(_ token: String = "at", lifetime: Duration? = .seconds(300), refreshToken: String? = nil) {
        let grant = TokenResponse(
            accessToken: Secret(token), lifetime: lifetime, refreshToken: refreshToken.map { Secret($0) })
        // What is answered to a session that has ended meanwhile is asked for again.
        repeat {
            _ = state.received(grant, sentAt: now, wall: wall, jitter: jitter)
        } while state.asked != nil && state.unsaved == nil
        state.attemptEnded(at: now, isSaved: true)
    }

    /// A whole attempt that fails.
    func fail(_ kind: TokenFailure.Kind, retryAfter: Duration? = nil) {
        _ = state.nextAction(at: now, jitter: jitter)
        crash(kind, retryAfter: retryAfter)
    }

    /// The attempt in flight fails.
    func crash(_ kind: TokenFailure.Kind, retryAfter: Duration? = nil) {
        let failure = TokenFailure(
            kind, kind == .final ? .refused(.invalidGrant) : .status(503), detail: "", retryAfter: retryAfter)
        // A grant from configuration is made again without its refresh token.
        repeat {
            _ = state.failed(failure, refreshToken: nil, at: now, wall: wall, jitter: jitter)
        } while state.asked != nil && state.unsaved == nil
        state.attemptEnded(at: now, isSaved: true)
    }

    /// The provider answers the request in flight with `failure`.
    func fail(_ failure: TokenFailure) {
        _ = state.failed(failure, refreshToken: nil, at: now, wall: wall, jitter: jitter)
        state.attemptEnded(at: now, isSaved: true)
    }

    /// When the next attempt would begin by itself, counted from now.
    var nextAttempt: Duration? {
        var state = state
        var moment = now
        for _ in 0..<100 {
            if state.nextAction(at: moment) != nil { return moment - now }
            guard let next = state.nextMoment(after: moment) else { return nil }
            moment = next
        }
        return nil
    }

    var word: SessionState { state.state(at: now) }

    var token: String? { state.published(at: now)?.token.withPlaintext { $0 } }

    var generation: Int { state.access?.snapshot.generation ?? 0 }

    /// What a request gets that can wait ten seconds.
    var answer: String {
        switch state.answer(at: now, until: now + .seconds(10)) {
        case .use(let snapshot): snapshot.token.withPlaintext { $0 }
        case .wait: "wait"
        case .fail(.loginRequired): "login_required"
        case .fail(.misconfigured): "misconfigured"
        case .fail(.unavailable): "unavailable"
        case .fail(.storeUnavailable): "store unavailable"
        case .fail(.cancelled): "cancelled"
        case .fail(.stopped): "stopped"
        }
    }

    /// A request comes and finds no token.
    @discardableResult
    func need() -> Bool { state.tokenNeeded(at: now) }

    /// The newest token is refused by a resource server.
    func reject(
        _ generation: Int? = nil, route: String = "/", isUnauthorized: Bool = true,
        canReplay: Bool = true, isReplayed: Bool = false
    ) -> String {
        let rejection = TokenRejection(
            generation: generation ?? self.generation, route: route, isUnauthorized: isUnauthorized,
            canReplay: canReplay, isReplayed: isReplayed)
        return describe(state.tokenRejected(rejection, at: now))
    }

    func describe(_ verdict: EngineState.Verdict) -> String {
        switch verdict {
        case .pass: "pass"
        case .wait: "wait"
        case .replay(let snapshot): "replay \(snapshot.token.withPlaintext { $0 })"
        }
    }
}
