// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop

extension Daemon {
    /// Has routes that fail judged each second, so that the end is told without a request; no timer runs while none fails.
    func watchRoutes() {
        guard !isWatchingRoutes else { return }
        isWatchingRoutes = true
        let timer =
            routeTimer
            ?? LoopTimer(loop: loop) { [weak self] in self?.assumeIsolated { $0.judgeRoutes() } }
        routeTimer = timer
        timer.set(after: .seconds(1))
    }

    private func judgeRoutes() {
        isWatchingRoutes = active.composer.hasFailingRoute()
        if isWatchingRoutes { routeTimer?.set(after: .seconds(1)) }
    }
}
