// SPDX-License-Identifier: Apache-2.0

import BearerdAdmin
import BearerdAdminAPI
import BearerdConfiguration
import BearerdEventLoop
import BearerdObservability
import BearerdSystem
import OAuth

extension Daemon {
    /// Starts to log when `/readyz` turns 200 and when it ceases to be.
    func watchReadiness() {
        readinessTimer = LoopTimer(loop: loop) { [weak self, loop] in
            Task(executorPreference: loop) { await self?.lookAtReadiness() }
        }
        sessions.reporter.watchStates { [weak self, loop] in
            Task(executorPreference: loop) { await self?.lookAtReadiness() }
        }
    }

    /// Says which identities of routes wait for a person to log in, and how that is done.
    func tellOfLogins() async {
        let used = Set(configuration.adminRoutes.compactMap(\.identity))
        for group in sessions.groups where used.contains(group.name) {
            guard await group.status().state == .loginRequired else { continue }
            let command = LoginAdvice.text(for: group.name, at: configuration.pageInPlaceOfCommands)
            let url = configuration.loginURL(of: group.name, at: sockets.admin?.address)
            log.warning(
                "somebody must log in",
                [
                    .identity: .string(group.name),
                    .hint: .string(
                        url.map { url in
                            "open \(url) in a browser"
                                + (configuration.pageInPlaceOfCommands == nil ? ", or \(command)" : "")
                        } ?? command),
                ])
        }
    }

    /// Looks if every identity that a route names has a token.
    ///
    /// It repeats when something changes meanwhile, each second while a token is missing, and when the first one ends: a
    /// token may come and end without a reported change of state. A drain is logged elsewhere.
    func lookAtReadiness() async {
        guard readiness.begin() else { return }
        var isReady = false
        var end: Instant?
        repeat {
            var statuses: [SessionStatus] = []
            for group in sessions.groups { statuses.append(await group.status()) }
            let now = ContinuousClock.now
            let report = ReadinessReport(
                routes: configuration.adminRoutes, statuses: statuses, isDraining: false, now: now)
            isReady = report.isReady
            end = statuses.flatMap { [$0.expiry] + $0.tokens.map(\.expiry) }.compactMap(\.self).filter {
                now < $0
            }.min()
            guard !isDraining else { continue }
            switch readiness.found(report, at: now) {
            case .ready?:
                log.notice("ready")
                // To ask for all tokens at once takes more memory than all that follows.
                CurrentProcess.trimHeap()
            case .notReady(let reasons)?: log.notice("no longer ready", [.reason: .string(reasons)])
            case nil: break
            }
        } while !readiness.end()
        if isDraining || isReady && end == nil {
            readinessTimer?.cancel()
        } else if isReady, let end {
            readinessTimer?.set(after: max(.milliseconds(1), end - ContinuousClock.now))
        } else {
            readinessTimer?.set(after: ReadinessNotices.longestUnlogged)
        }
    }
}
