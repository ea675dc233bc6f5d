// SPDX-License-Identifier: Apache-2.0

import OAuth
import Observability
import Synchronization

/// Turns what happens to sessions into log lines and counts.
///
/// Nothing that it hears holds a secret.
final class SessionReporter: SessionObserver {
    /// What is counted of one identity.
    struct Counts {
        /// By grant and outcome, in the order in which they first came.
        var tokenRequests: [(grant: String, outcome: String, count: Int)] = []
        var storeWriteFailures = 0
    }

    private let log: Log
    private let hooks: StateChangeHooks?
    private let counts = Mutex<[String: Counts]>([:])

    /// - Parameter hooks: run on changes of state; nil for a command's sessions.
    init(log: Log, hooks: StateChangeHooks? = nil) {
        self.log = log
        self.hooks = hooks
    }

    /// What was counted of `identity` so far.
    func counts(of identity: String) -> Counts { counts.withLock { $0[identity] ?? Counts() } }

    func session(_ identity: String, reports event: SessionEvent) {
        let log = log.with(.identity, .string(identity))
        switch event {
        case .stateChanged(let old, let new):
            log.notice(
                "identity changed state",
                [.previousState: .string(old.rawValue), .state: .string(new.rawValue)])
            hooks?.run(for: identity, in: new)
        case .tokenRequested(let grant, let failure):
            count(grant, failure, of: identity)
            report(grant, failure, of: identity, to: log)
        case .adopted(let generation):
            log.info("adopted a newer session from the store", [.generation: .integer(generation)])
        case .storeFailed(let operation, let error):
            counts.withLock { $0[identity, default: Counts()].storeWriteFailures += 1 }
            log.error(
                "the store failed; the session goes on from memory",
                [.error: .string(operation.rawValue), .reason: .string(error.reason)])
        case .storeRecovered:
            log.notice("the session is stored again")
        case .authorizationError(let route):
            log.warning("the upstream refused the token", [.route: .string(route)])
        case .clientSecretExpires(let moment):
            log.warning(
                "the registered client's secret ends soon, or has ended: register again",
                [.expires: .string(Timestamp.text(unixSeconds: moment.secondsSinceEpoch))])
        }
    }

    private func count(_ grant: GrantType, _ failure: TokenFailure?, of identity: String) {
        let outcome = failure?.kind.rawValue ?? "success"
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
        let advice = failure.kind == .final ? "; \(LoginAdvice.text(for: identity))" : ""
        log.warning(
            "token request failed",
            [
                .grantType: .string(grant.rawValue), .outcome: .string(failure.kind.rawValue),
                .code: .string(failure.code), .reason: .string(failure.detail + advice),
            ])
    }
}

extension StoreError {
    /// What failed, for the log.
    var reason: String {
        switch self {
        case .busy: "another process holds the lock"
        case .unavailable(let reason): reason
        }
    }
}
