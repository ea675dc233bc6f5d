// SPDX-License-Identifier: Apache-2.0

import Admin
import AdminAPI
import EventLoop
import OAuth
import Observability

extension Daemon {
    /// Has the log told when `/readyz` turns 200, and when it ceases to be, from here on.
    func watchReadiness() {
        engine.reporter.watchStates { [weak self, loop] in
            Task(executorPreference: loop) { await self?.lookAtReadiness() }
        }
    }

    /// Looks whether every identity that a route names has a token, as often as something changes meanwhile.
    ///
    /// A drain is told by itself.
    func lookAtReadiness() async {
        guard readiness.begin() else { return }
        repeat {
            var statuses: [IdentityStatus] = []
            for group in engine.groups { statuses.append(await group.status()) }
            guard !isDraining else { continue }
            let report = ReadinessReport(
                routes: configuration.adminRoutes, statuses: statuses, isDraining: false,
                now: ContinuousClock.now)
            switch readiness.found(report) {
            case .ready?: log.notice("ready")
            case .notReady(let reasons)?: log.notice("no longer ready", [.reason: .string(reasons)])
            case nil: break
            }
        } while !readiness.end()
    }
}
