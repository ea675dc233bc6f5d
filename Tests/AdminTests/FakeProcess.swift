// SPDX-License-Identifier: Apache-2.0

import BearerdAdmin
import BearerdAdminAPI
import BearerdCryptography
import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdJSON
import BearerdObservability
import OAuth
import Synchronization

/// A process that says what a test tells it to say.
final class FakeProcess: ProcessControl {
    private let quits = Mutex(0)
    let draining: Bool
    let turning: Bool

    let refusal: ReloadRefusal?

    let healths: [RouteScope: UpstreamHealth]

    init(
        draining: Bool = false, turning: Bool = true, refusal: ReloadRefusal? = nil,
        healths: [RouteScope: UpstreamHealth] = [
            RouteScope(path: "/"): .answers,
            RouteScope(path: "/b"): .fails("10 of 10 answers in the last minute failed"),
        ]
    ) {
        self.healths = healths
        self.refusal = refusal
        self.draining = draining
        self.turning = turning
    }

    /// How often it was told to quit.
    var quitCount: Int { quits.withLock { $0 } }

    var uptime: Duration { .seconds(90) }
    var startTime: WallTime { WallTime(secondsSinceEpoch: 1_000_000) }
    var droppedLogLines: Int { 0 }
    var droppedAuditLines: Int { 0 }
    var droppedSpans: Int { 0 }
    func isDraining() async -> Bool { draining }
    func silentWorkers() async -> [String] { turning ? [] : ["worker-1"] }

    func workerMetrics() async -> WorkerMetrics {
        var metrics = WorkerMetrics()
        for (route, status) in [("/", 200), ("/b", 404)] {
            let tally = RouteTally(route)
            tally.countRequest(status: status, duration: .milliseconds(1))
            metrics.add(tally)
        }
        return metrics
    }

    func upstreamHealth() async -> [RouteScope: UpstreamHealth] { healths }

    func reloads() async -> ReloadCounts { ReloadCounts(lastSuccess: 1) }
    func capacity() async -> ProcessCapacity { ProcessCapacity(workers: 2, connections: 9) }

    func refusedReload() async -> RefusedReload? {
        refusal?.record(at: WallTime(secondsSinceEpoch: 1_000_060))
    }

    func reload() async throws(ReloadRefusal) -> [String] {
        if let refusal { throw refusal }
        return []
    }

    func quit() async { quits.withLock { $0 += 1 } }
}

/// Identities that fail as told, and remember what was asked of them.
final class FakeIdentities: IdentityDirectory {
    private let entries: [SessionStatus]
    private let failure: TokenError?
    private let log = Mutex<[String]>([])

    init(_ entries: [SessionStatus], failure: TokenError? = nil) {
        self.entries = entries
        self.failure = failure
    }

    /// The actions so far.
    var actions: [String] { log.withLock { $0 } }

    func statuses() async -> [SessionStatus] { entries }

    func needsPerson(_ name: String) -> Bool? {
        entries.contains { $0.name == name } ? !name.hasPrefix("machine") : nil
    }

    func metrics() async -> [IdentityMetrics] {
        entries.map {
            IdentityMetrics(
                name: $0.name, state: $0.state.rawValue, expiryUnixSeconds: nil, tokenRequests: [])
        }
    }

    func refresh(_ name: String) async throws(TokenError) { try act("refresh \(name)") }

    func invalidate(_ name: String) async throws(TokenError) { try act("invalidate \(name)") }

    func userinfo(_ name: String) async throws(SessionFailure) -> JSONObject {
        try perform("userinfo \(name)")
        return ["sub": "user-1"]
    }

    func revoke(_ hints: [TokenHint], of name: String) async throws(SessionFailure) -> [TokenHint] {
        try perform("revoke \(hints.map(\.rawValue)) \(name)")
        return hints
    }

    func register(_ name: String) async throws(SessionFailure) -> RegistrationReport {
        try perform("register \(name)")
        return RegistrationReport(clientID: "made", secretExpiry: WallTime(secondsSinceEpoch: 7))
    }

    func beginLogin(
        _ name: String, redirectURI: String
    ) async throws(TokenFailure) -> AuthorizationRequest {
        guard let endpoint = HTTPURL("https://sso.example.com/authorize") else {
            throw TokenFailure(.misconfigured, .noIdentity, detail: "no endpoint")
        }
        let client = ClientConfiguration(
            name: name, clientID: "web", grantType: .authorizationCode)
        return AuthorizationRequest(
            configuration: client, endpoint: endpoint, redirectURI: redirectURI,
            issuer: "https://sso.example.com", requiresIssuer: true)
    }

    func take(
        _ transfer: SessionTransfer, for name: String, until departure: (@Sendable () async -> Void)?
    ) async throws(LoginError) -> SessionTransferReport {
        log.withLock { $0.append("take \(transfer.json["kind"]?.string ?? "") \(name)") }
        switch transfer {
        case .pending: throw .failed(TokenFailure(.final, .refused(.invalidGrant), detail: "it failed"))
        case .device: throw .expired
        case .code(let code) where code.code.matches(Secret("outdone")): throw .unstored(.outdated)
        case .code, .kept, .imported, .inquiry: return SessionTransferReport(isChanged: false)
        }
    }

    func logOut(_ name: String, onlyHere isLocal: Bool) async throws(SessionFailure) -> LogoutOutcome {
        try perform("logout \(name)")
        var outcome = LogoutOutcome()
        outcome.revocation = .requested
        outcome.endSession = .failed
        outcome.failures = [TokenFailure(.transient, .status(500), detail: "it failed")]
        return outcome
    }

    private func perform(_ action: String) throws(SessionFailure) {
        do throws(TokenError) {
            try act(action)
        } catch {
            throw .token(error)
        }
    }

    private func act(_ action: String) throws(TokenError) {
        log.withLock { $0.append(action) }
        if let failure { throw failure }
    }
}

/// Every redirect comes to the admin listener.
struct NoRedirectReceivers: RedirectReceivers {
    func open(for identity: String) async throws(LoginError) {}
    func close(for identity: String, unless isAwaited: @Sendable () -> Bool) async {}
}
