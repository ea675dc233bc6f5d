// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

@testable import OAuth

/// Processes with one identity each, or more of one name, a store that they share, and a provider: all in one thread, in an order and with
/// faults that a seed decides.
///
/// Every message takes its own time in each direction, so that whatever can interleave does. Time passes only when
/// nothing is left to do at the present moment.
final class ModelWorld {
    /// What may go wrong in one run.
    struct Faults {
        /// A lease that ends by itself; nil for a lock that the kernel keeps.
        var leaseTerm: Duration? = .seconds(15)
        var grantType = GrantType.authorizationCode
        var processes = 2
        /// The identities of each process that share the session, as before and after a reload.
        var identities = 1
        var targets = 2
        var killsProcesses = false
        var freezesProcesses = false
        var breaksStore = false
        var emptiesStore = false
        var hangsProvider = false
        var losesAnswers = false
        var changesSessions = false
        var stops = false
    }

    let faults: Faults
    var random: SeededGenerator
    let start = ContinuousClock.now
    var now: Instant
    private(set) var steps = 0
    private var agenda: [(due: Instant, process: ModelProcess?, incarnation: Int, run: () -> Void)] = []
    private(set) var processes: [ModelProcess] = []
    private(set) lazy var store = ModelStore(self)
    private(set) lazy var provider = ModelProvider(self)
    private(set) var trace: [String] = []
    /// The first promise that was broken.
    private(set) var failure: String?
    /// Whether faults still happen.
    var isQuiet = false
    let targets: [TokenTarget]
    private let isTraced: Bool
    let configuration: ClientConfiguration

    /// - Parameter isTraced: whether it writes down what happens, which takes time.
    init(seed: UInt64, faults: Faults, isTraced: Bool = false) {
        self.isTraced = isTraced
        self.faults = faults
        random = SeededGenerator(seed: seed)
        now = start
        targets = [TokenTarget()] + (1..<max(faults.targets, 1)).map { TokenTarget(scope: ["scope\($0)"]) }
        var configuration = ClientConfiguration(
            name: "default", clientID: "app", grantType: faults.grantType)
        configuration.issuer = "https://sso.example"
        self.configuration = configuration
        var first = StoredSession(identity: "default", generation: 1, binding: configuration.binding)
        if faults.grantType.needsPerson { first.refreshToken = provider.begin() }
        first.began = wall
        store.begin(first)
        for _ in 0..<faults.processes {
            let view = ModelStoreView()
            for _ in 0..<faults.identities {
                processes.append(ModelProcess(processes.count, in: self, sharing: view))
            }
        }
        for process in processes { process.begin() }
    }

    var wall: WallTime { WallTime(secondsSinceEpoch: 1_700_000_000) + (now - start) }

    // MARK: The order of things

    /// Has something happen after `delay`; what is for a process that was killed meanwhile never does.
    func after(_ delay: Duration, for process: ModelProcess? = nil, _ run: @escaping () -> Void) {
        agenda.append((now + delay, process, process?.incarnation ?? 0, run))
    }

    /// A few milliseconds, or longer where the store is slow.
    var briefly: Duration { .milliseconds(Int.random(in: 1...20, using: &random)) }

    func chance(_ percent: Double) -> Bool { Double.random(in: 0..<100, using: &random) < percent }

    func seconds(_ range: ClosedRange<Double>) -> Duration {
        .milliseconds(Int(Double.random(in: range, using: &random) * 1000))
    }

    func note(_ text: @autoclosure () -> String) {
        guard isTraced else { return }
        trace.append("\((now - start) / .seconds(1)): \(text())")
        if trace.count > 4000 { trace.removeFirst(2000) }
    }

    func fail(_ reason: String) {
        note("BROKEN: \(reason)")
        if failure == nil { failure = reason }
    }

    /// Runs until `end`, or a promise is broken.
    func run(until end: Instant) {
        while failure == nil, now < end {
            agenda.removeAll { entry in entry.process.map { $0.incarnation != entry.incarnation } ?? false }
            let due = agenda.indices.filter { agenda[$0].due <= now && agenda[$0].process?.isFrozen != true }
            guard let index = due.randomElement(using: &random) else {
                let next = agenda.filter { $0.process?.isFrozen != true }.map(\.due).min() ?? end
                now = min(max(next, now), end)
                continue
            }
            steps += 1
            let entry = agenda.remove(at: index)
            entry.run()
            check()
        }
    }

    // MARK: What must hold all the time

    private func check() {
        for process in processes where !process.isFrozen && process.thawedAt != now {
            if let late = process.waiting.first(where: { $0.value + .seconds(1) < now }) {
                fail("waiter \(late.key) of \(process.name) got no answer")
            }
        }
        provider.checkNothingIsLost()
    }

    /// Whether every process has done what it has begun.
    var isIdle: Bool {
        processes.allSatisfy { process in
            let engine = process.engine
            guard process.isRunning, case .idle = engine.phase else { return !process.isRunning }
            return engine.queue.isEmpty && engine.commands.isEmpty && !engine.needsWriting
        }
    }

    /// What must hold when nothing has gone wrong for long.
    func checkAll() {
        for process in processes where process.isRunning {
            let engine = process.engine
            if engine.needsWriting { fail("\(process.name) has not written what it has") }
            if !engine.commands.isEmpty { fail("\(process.name) has not finished a command") }
            switch engine.phase {
            case .holding, .settling: fail("\(process.name) is in \(process.phase) for ever")
            default: break
            }
            let stored = store.record?.refreshToken
            if !(stored.map { $0.matches(engine.session.refreshToken) }
                ?? (engine.session.refreshToken == nil))
            {
                fail("\(process.name) has another refresh token than the store")
            }
            if provider.mustWork(engine.session.refreshToken) || !faults.grantType.needsPerson,
                !engine.targets.values.allSatisfy({ $0.usable(at: now) != nil })
            {
                fail("\(process.name) has no access token")
            }
        }
    }

    /// What happened last.
    var story: String { trace.suffix(150).joined(separator: "\n") }
}
