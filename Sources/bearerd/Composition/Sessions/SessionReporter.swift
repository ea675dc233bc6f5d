// SPDX-License-Identifier: Apache-2.0

import BearerdObservability
import BearerdProxy
import OAuth
import Synchronization

/// Logs and counts the events of sessions.
///
/// No event holds a secret.
final class SessionReporter: SessionObserver {
    /// The counts of one identity.
    struct Counts {
        /// The number of requests by grant and outcome, in the order of their first occurrence.
        var tokenRequests: [(grant: String, outcome: String, count: Int)] = []
        var storeWriteFailures = 0
    }

    private let log: Log
    private let hooks: Mutex<StateChangeHooks?>
    private let tracing = Mutex<Tracing?>(nil)
    private let stateWatch = Mutex<(@Sendable () -> Void)?>(nil)
    private let manager: ServiceManager?
    /// The status page, where no command can help.
    private let page: String?
    private let onTrouble: (@Sendable (String) -> Void)?
    private let counts = Mutex<[String: Counts]>([:])
    private let troubles = Mutex<[Trouble: (error: StoreError, at: ContinuousClock.Instant)]>([:])

    /// Callers can cause any number of refused or failed exchanges, so each identity's are logged once a
    /// second.
    private let refusals = IdentityThrottle()
    private let failures = IdentityThrottle()

    private static let repeatPause: Duration = .seconds(60)

    private struct Trouble: Hashable {
        let identity: String
        let operation: StoreOperation
    }

    /// - Parameters:
    ///   - hooks: run on changes of state; nil for a command's sessions.
    ///   - manager: told of changes of state; nil for a command's sessions.
    ///   - page: the status page, where no command can help.
    ///   - onTrouble: called with one line for each failure of the store if there is no log.
    init(
        log: Log, hooks: StateChangeHooks? = nil, manager: ServiceManager? = nil, page: String? = nil,
        onTrouble: (@Sendable (String) -> Void)? = nil
    ) {
        self.log = log
        self.hooks = Mutex(hooks)
        self.manager = manager
        self.page = page
        self.onTrouble = onTrouble
    }

    /// Replaces the hooks for changes of state.
    func use(_ hooks: StateChangeHooks?) {
        let before = self.hooks.withLock { current in
            defer { current = hooks }
            return current
        }
        before?.stop()
    }

    /// Replaces the tracing of token requests.
    func use(_ tracing: Tracing?) { self.tracing.withLock { $0 = tracing } }

    /// Calls `watch` after each change of state.
    func watchStates(_ watch: @escaping @Sendable () -> Void) { stateWatch.withLock { $0 = watch } }

    /// The counts of `identity` so far.
    func counts(of identity: String) -> Counts { counts.withLock { $0[identity] ?? Counts() } }

    func session(_ identity: String, reports event: SessionEvent) {
        let log = log.with(.identity, .string(identity))
        switch event {
        case .stateChanged(let old, let new):
            log.notice(
                "identity changed state",
                [.previousState: .string(old.rawValue), .state: .string(new.rawValue)])
            hooks.withLock { $0 }?.run(for: identity, in: new)
            manager?.identity(identity, isIn: new)
            stateWatch.withLock { $0 }?()
        case .tokenRequestBegan:
            tracing.withLock { $0 }?.tokenRequestBegan(of: identity)
        case .tokenRequested(let grant, let failure):
            tracing.withLock { $0 }?.tokenRequestEnded(of: identity, grant, failure)
            count(grant, failure?.kind.rawValue ?? "success", of: identity)
            // Whoever renews a token's file may write it as often as he likes.
            if grant.isSource, failure != nil, failures.pass(for: identity) == nil { return }
            report(grant, failure, of: identity, to: log)
        case .tokenRepeated(let grant):
            tracing.withLock { $0 }?.tokenRequestEnded(of: identity, grant, nil)
            count(grant, "success", of: identity)
            log.debug("the source gives the refused token once more", [.grantType: .string(grant.rawValue)])
        case .refreshUnanswered(let failure):
            log.warning(
                "the provider hangs: the answer to the refresh token is waited for, and it is not sent again on a guess",
                [.code: .string(failure.code), .reason: .string(failure.detail)])
        case .refreshTokenMayBeSpent(let generation):
            log.warning(
                "there is no word left of what became of the refresh token: it may be spent, and is tried once",
                [.generation: .integer(generation)])
        case .callerRefused(let failure):
            count(.tokenExchange, "refused", of: identity)
            guard let leftOut = refusals.pass(for: identity) else { return }
            log.notice(
                "the provider does not exchange a caller's own token",
                [
                    .code: .string(failure.code), .reason: .string(failure.detail),
                    .leftOut: .integer(leftOut),
                ])
        case .callerFailed(let failure):
            count(.tokenExchange, failure.kind.rawValue, of: identity)
            guard let leftOut = failures.pass(for: identity) else { return }
            report(.tokenExchange, failure, of: identity, to: log.with(.leftOut, .integer(leftOut)))
        case .adopted(let generation):
            log.info("adopted a newer session from the store", [.generation: .integer(generation)])
        case .storeFailed(let operation, let error):
            storeFailed(operation, error, of: identity, to: log)
        case .storeRecovered(let operation):
            let wasTold = troubles.withLock {
                $0.removeValue(forKey: Trouble(identity: identity, operation: operation)) != nil
            }
            if wasTold { log.notice(operation.recovery) }
        case .tokenNotBound:
            log.warning(
                "the provider was asked for a DPoP token and made a bearer token, which is used as that")
        case .othersSessionFound(let words):
            log.warning("another configuration's session is in the store", [.reason: .string(words)])
        case .scopeChanged(let asked, let configured):
            log.notice(
                "another scope is configured than somebody logged in with; it counts with the next login",
                [
                    .loginScope: .string(asked.joined(separator: " ")),
                    .scope: .string(configured.joined(separator: " ")),
                    .hint: .string(LoginAdvice.text(for: identity, at: page)),
                ])
        case .authorizationError(let route, let refusal):
            refusal.described(in: log).warning("the upstream refused the token", [.route: .string(route)])
        case .clientSecretExpires(let moment):
            log.warning(
                "the registered client's secret ends soon, or has ended: register again",
                [.expires: .string(Timestamp.text(unixSeconds: moment.secondsSinceEpoch))])
        }
    }

    /// Logs a failure of the store, which is retried; the same failure is logged once a minute.
    private func storeFailed(
        _ operation: StoreOperation, _ error: StoreError, of identity: String, to log: Log
    ) {
        if operation == .save { counts.withLock { $0[identity, default: Counts()].storeWriteFailures += 1 } }
        guard !error.isOutage else {
            onTrouble?("\(identity): \(operation.failure): \(error.reason)")
            return
        }
        let now = ContinuousClock.now
        let isNews = troubles.withLock { troubles in
            let trouble = Trouble(identity: identity, operation: operation)
            // The words of a lock tell since when somebody has it, who may take it again and again.
            if let told = troubles[trouble], told.error == error || told.error.isBusy && error.isBusy,
                now < told.at + Self.repeatPause
            {
                return false
            }
            troubles[trouble] = (error, now)
            return true
        }
        guard isNews else { return }
        onTrouble?("\(identity): \(operation.failure): \(error.reason)")
        log.error(
            operation.complaint, [.error: .string(operation.rawValue), .reason: .string(error.reason)])
    }

    private func count(_ grant: GrantType, _ outcome: String, of identity: String) {
        counts.withLock { counts in
            var mine = counts[identity] ?? Counts()
            if let index = mine.tokenRequests.firstIndex(where: {
                $0.grant == grant.shortName && $0.outcome == outcome
            }) {
                mine.tokenRequests[index].count += 1
            } else {
                mine.tokenRequests.append((grant.shortName, outcome, 1))
            }
            counts[identity] = mine
        }
    }

    private func report(_ grant: GrantType, _ failure: TokenFailure?, of identity: String, to log: Log) {
        guard let failure else {
            return log.info("token renewed", [.grantType: .string(grant.rawValue)])
        }
        let advice = failure.kind == .final ? "; \(LoginAdvice.text(for: identity, at: page))" : ""
        log.warning(
            "token request failed",
            [
                .grantType: .string(grant.rawValue), .outcome: .string(failure.kind.rawValue),
                .code: .string(failure.code), .reason: .string(failure.detail + advice),
            ])
    }
}

extension StoreOperation {
    /// The failure in words, for a command: who knows whether that tries again.
    fileprivate var failure: String {
        switch self {
        case .load: "the stored session cannot be read"
        case .save: "the session cannot be stored"
        case .lock: "the store's lock is not to be had"
        case .mark: "nobody can be told that the refresh token is being sent"
        case .place: "the session is not where it will be looked for"
        }
    }

    /// The message if the operation fails, and is tried again.
    fileprivate var complaint: StaticString {
        switch self {
        case .load: "the stored session cannot be read; it is tried again"
        case .save: "the session cannot be stored and goes on from memory; it is tried again"
        case .lock: "the store's lock is not to be had; it is tried again"
        case .mark:
            "the store takes no note that the refresh token is being sent: whoever starts after a sudden end may send it again"
        case .place: "the session is not where it will be looked for, and goes on where it was"
        }
    }

    /// The message if the operation works again.
    fileprivate var recovery: StaticString {
        switch self {
        case .load: "the stored session can be read again"
        case .save: "the session is stored again"
        case .lock: "the store's lock is to be had again"
        case .mark: "the store takes notes of refresh tokens again"
        case .place: "the session is where it will be looked for again"
        }
    }
}
