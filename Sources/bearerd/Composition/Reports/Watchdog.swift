// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop

/// Sends the service manager a sign of life while every loop responds, twice within its time limit.
///
/// Confined to the control loop, which itself responds if this runs.
final class Watchdog {
    private let manager: ServiceManager
    private let loop: EventLoop
    private let interval: Duration
    private let allLoopsRespond: @Sendable () async -> Bool
    private var timer: LoopTimer?

    /// - Parameter allLoopsRespond: returns true if the workers' loops respond.
    /// - Returns: nil if the manager expects no sign of life.
    init?(
        _ manager: ServiceManager, on loop: EventLoop, allLoopsRespond: @escaping @Sendable () async -> Bool
    ) {
        guard let limit = manager.watchdogLimit else { return nil }
        self.manager = manager
        self.loop = loop
        interval = limit / 2
        self.allLoopsRespond = allLoopsRespond
        let timer = LoopTimer(loop: loop) { [unowned self] in look() }
        self.timer = timer
        timer.set(after: .zero)
    }

    private func look() {
        timer?.set(after: interval)
        Task(executorPreference: loop) { [manager, allLoopsRespond] in
            if await allLoopsRespond() { manager.alive() }
        }
    }
}
