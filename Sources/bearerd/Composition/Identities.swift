// SPDX-License-Identifier: Apache-2.0

import Admin
import OAuth
import Observability

/// The sessions of the process, in the order of the configuration.
struct Identities: IdentityDirectory {
    /// An action asked for on the admin listener waits this long for its outcome.
    private static let patience = Duration.seconds(15)

    let sessions: [AuthSession]
    let reporter: SessionReporter

    func session(named name: String) -> AuthSession? { sessions.first { $0.identity == name } }

    func statuses() async -> [IdentityStatus] {
        var statuses: [IdentityStatus] = []
        for session in sessions { statuses.append(await session.status) }
        return statuses
    }

    func metrics() async -> [IdentityMetrics] {
        await statuses().map { status in
            let counts = reporter.counts(of: status.name)
            return IdentityMetrics(
                name: status.name, state: status.state.rawValue,
                expiryUnixSeconds: status.expiresAt.map { Double($0.secondsSinceEpoch) },
                tokenRequests: counts.tokenRequests.map {
                    IdentityMetrics.TokenRequests(grant: $0.grant, outcome: $0.outcome, count: $0.count)
                },
                storeWriteFailures: counts.storeWriteFailures)
        }
    }

    func refresh(_ name: String) async throws(TokenError) {
        try await session(named: name)?.refresh(waitingAtMost: Self.patience)
    }

    func invalidate(_ name: String) async throws(TokenError) {
        try await session(named: name)?.invalidate(waitingAtMost: Self.patience)
    }
}
