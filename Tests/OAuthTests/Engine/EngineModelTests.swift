// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OAuth

/// Runs engines against a store and a provider with every fault, in orders that a seed decides.
///
/// `BEARERD_MODEL_SEEDS=20000` tries so many seeds a case; a failure names its seed, which `BEARERD_MODEL_SEED` runs alone.
struct `An engine in a hostile world` {
    private static let cases: [(name: String, faults: ModelWorld.Faults)] = {
        typealias Faults = ModelWorld.Faults
        var lock = Faults(leaseTerm: nil)
        lock.breaksStore = true
        var outages = Faults(processes: 3)
        outages.breaksStore = true
        var emptied = Faults(processes: 3)
        emptied.emptiesStore = true
        var hanging = Faults()
        hanging.hangsProvider = true
        var killed = Faults(processes: 3)
        killed.killsProcesses = true
        var configured = killed
        configured.grantType = .clientCredentials
        configured.breaksStore = true
        var people = Faults()
        people.changesSessions = true
        var locked = Faults(leaseTerm: nil, processes: 3)
        locked.killsProcesses = true
        locked.freezesProcesses = true
        locked.breaksStore = true
        locked.hangsProvider = true
        locked.losesAnswers = true
        locked.stops = true
        var all = Faults(processes: 3)
        all.killsProcesses = true
        all.breaksStore = true
        all.emptiesStore = true
        all.losesAnswers = true
        all.stops = true
        var hangingBesideAll = all
        hangingBesideAll.hangsProvider = true
        var peopleBesideAll = hangingBesideAll
        peopleBesideAll.changesSessions = true
        var sharing = all
        sharing.processes = 2
        sharing.identities = 2
        var sharingLock = locked
        sharingLock.processes = 2
        sharingLock.identities = 2
        return [
            ("nothing", Faults()), ("a lock that the kernel keeps", lock), ("outages", outages),
            ("an emptied store", emptied), ("a hanging provider", hanging), ("killed processes", killed),
            ("a grant from the configuration", configured),
            ("people", people), ("everything, with the kernel's lock", locked),
            ("everything but what stands still", all),
            ("a provider that hangs beside all", hangingBesideAll),
            ("people beside all that", peopleBesideAll),
            ("two identities of each process", sharing),
            ("two identities of each process, with the kernel's lock", sharingLock),
        ]
    }()

    @Test(arguments: cases.indices)
    func `sends no refresh token twice, loses no session and leaves nobody waiting`(index: Int) {
        let (name, faults) = Self.cases[index]
        var steps = 0
        for seed in Seeds.chosen {
            let world = ModelWorld(seed: seed, faults: faults)
            world.play()
            steps += world.steps
            guard let failure = world.failure else { continue }
            let again = ModelWorld(seed: seed, faults: faults, isTraced: true)
            again.play()
            Issue.record("\(name), seed \(seed): \(failure)\n\(again.story)")
            return
        }
        #expect(steps > 0)
    }
}
