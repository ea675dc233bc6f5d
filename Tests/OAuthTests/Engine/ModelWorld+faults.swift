// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

@testable import OAuth

/// What goes wrong.
extension ModelWorld {
    /// Breaks something every now and then; more often while a process is in the middle of something.
    func somethingBreaks(near process: ModelProcess) {
        let isBusy = process.phase != "idle"
        guard chance(isBusy ? 60 : 15) else { return }
        after(seconds(0...2)) { self.breakOne(process) }
    }

    /// A quarter of an hour with faults, as much again without, and until nobody has anything in hand.
    func play() {
        run(until: start + .seconds(900))
        isQuiet = true
        run(until: start + .seconds(1800))
        // What somebody has stored last is on its way to the others for a moment.
        var calm = now
        while failure == nil, now < min(calm + .milliseconds(100), start + .seconds(2000)) {
            run(until: now + .milliseconds(10))
            if !isIdle { calm = now }
        }
        if failure == nil { checkAll() }
    }

    private func breakOne(_ process: ModelProcess) {
        guard !isQuiet else { return }
        switch Int.random(in: 0..<8, using: &random) {
        case 0 where faults.killsProcesses: process.kill()
        case 1 where faults.freezesProcesses: process.freeze(for: seconds(1...60))
        case 2 where faults.breaksStore && faults.leaseTerm != nil: store.goAway(for: seconds(0.5...60))
        case 3 where faults.breaksStore: store.refuseWrites(for: seconds(0.5...60))
        case 4 where faults.breaksStore && faults.leaseTerm != nil: process.cutOff(for: seconds(0.5...60))
        case 5 where faults.emptiesStore: store.lose(everything: chance(60))
        case 6 where faults.hangsProvider: provider.hang(for: seconds(1...150))
        case 7 where faults.stops:
            process.stop()
        default: break
        }
    }
}

extension ModelProcess {
    /// Whether nobody else has its session, which the store has lost.
    var isAlone: Bool {
        guard let token = engine.session.refreshToken, !token.matches(world.store.record?.refreshToken)
        else { return false }
        return !world.processes.contains {
            $0 !== self && $0.isRunning && token.matches($0.engine.session.refreshToken)
        }
    }
}
