// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

@testable import OAuth

/// A process with an ``IdentityEngine`` and a driver that carries its actions out, each at its own time; or one of several
/// identities of a process, each of which has that.
final class ModelProcess {
    unowned let world: ModelWorld
    private let index: Int
    /// What the process knows of the store.
    let view: ModelStoreView
    /// Counts the starts: each is another owner of marks and leases.
    private(set) var incarnation = 0
    private(set) var beginning: Instant
    private(set) var engine: IdentityEngine
    private(set) var isRunning = false
    private(set) var isFrozen = false
    private(set) var thawedAt: Instant?
    private var hasClaim = false

    /// The leases that this process has, as it knows.
    var leases: [Ticket: ModelLease] = [:]
    /// Since when the provider answers what is harmless, and nothing else.
    var answeringSince: Instant?
    /// Token requests without an answer, and those whose time is over.
    var open: Set<Ticket> = []
    /// The leases under which requests that are not over were made; none for one that was hung up.
    var requestLeases: [Ticket: ModelLease] = [:]
    /// Who waits, and until when.
    var waiting: [WaiterID: Instant] = [:]
    private var published: [TargetID: AccessTokenSnapshot] = [:]
    /// Access tokens that must never be used again.
    private var invalidated: [Secret] = []
    private var nextID = 0
    private var alarm = 0
    private var stopEnd: Instant?
    private var isWritingAtEnd = false

    init(_ index: Int, in world: ModelWorld, sharing view: ModelStoreView) {
        self.world = world
        self.index = index
        self.view = view
        beginning = world.now
        engine = Self.engine(in: world)
    }

    var name: String { "\(["A", "B", "C", "D"][index])\(incarnation)" }

    var phase: String { String("\(engine.phase)".prefix { $0 != "(" }) }

    private static func engine(in world: ModelWorld) -> IdentityEngine {
        IdentityEngine(
            world.configuration, at: Moment(now: world.now, wall: world.wall, jitter: 0))
    }

    // MARK: Its life

    func begin() {
        incarnation += 1
        beginning = world.now
        isRunning = true
        isFrozen = false
        engine = Self.engine(in: world)
        if !siblings.contains(where: \.isRunning) { view.begin() }
        (leases, answeringSince) = ([:], nil)
        (open, waiting, published, invalidated, requestLeases) = ([], [:], [:], [], [:])
        world.note("\(name) starts")
        for (number, target) in world.targets.enumerated().dropFirst() {
            take(.targetJoined(number, world.configuration.aimed(at: target)))
        }
        take(.storeChanged(isWritable: false))
        take(.started)
        renewLeases()
        live()
    }

    /// Renews its leases, as a store's driver does.
    private func renewLeases() {
        guard world.faults.leaseTerm != nil else { return }
        world.after(.seconds(1), for: self) {
            for lease in self.leases.values where !lease.isOver {
                _ = self.world.store.renew(lease, of: self)
            }
            self.renewLeases()
        }
    }

    /// Whether it may have sent a refresh token whose outcome is not stored.
    private var mayHaveSpent: Bool { leases.values.contains { $0.spending != nil } || engine.isUnwritten }

    /// Requests come, and people.
    private func live() {
        world.after(world.seconds(0.5...20), for: self) {
            self.somethingHappens()
            self.live()
        }
    }

    /// The other identities of the process.
    private var siblings: [ModelProcess] { world.processes.filter { $0.view === view && $0 !== self } }

    /// All identities of the process end with it, and begin again with the next.
    func kill() {
        let all = [self] + siblings
        for one in all { one.die() }
        world.after(world.seconds(0.1...40)) {
            for one in all where !one.isRunning { one.begin() }
        }
    }

    private func die() {
        guard isRunning else { return }
        world.note("\(name) is killed")
        if mayHaveSpent || isAlone { world.provider.excuse(engine.session.refreshToken) }
        world.provider.isGone(self)
        world.store.died(self)
        isRunning = false
        (waiting, stopEnd, isWritingAtEnd) = ([:], nil, false)
        incarnation += 1
    }

    func freeze(for length: Duration) {
        for one in [self] + siblings { one.standStill(for: length) }
    }

    private func standStill(for length: Duration) {
        guard isRunning, !isFrozen else { return }
        world.note("\(name) is frozen")
        isFrozen = true
        if mayHaveSpent { world.provider.excuse(engine.session.refreshToken) }
        let frozen = incarnation
        world.after(length) {
            guard self.incarnation == frozen else { return }
            self.isFrozen = false
            self.thawedAt = self.world.now
            self.world.note("\(self.name) thaws")
        }
    }

    func cutOff(for length: Duration) {
        guard !view.isCutOff else { return }
        world.note("\(name) is cut off")
        view.isCutOff = true
        let all = [self] + siblings
        for one in all where one.mayHaveSpent { world.provider.excuse(one.engine.session.refreshToken) }
        world.after(length) {
            self.view.isCutOff = false
            for one in all { one.hear(.storeChanged(isWritable: true)) }
        }
    }

    // MARK: Events and actions

    /// Has the engine take an event in at once.
    func take(_ event: EngineEvent) {
        let before = phase
        let moment = Moment(
            now: world.now, wall: world.wall, jitter: .random(in: 0..<1, using: &world.random))
        let actions = engine.handle(event, at: moment)
        if phase != before { world.note("\(name): \(before) → \(phase)") }
        for action in actions { carryOut(action) }
    }

    /// Has it told of something when the message arrives.
    func tell(_ event: EngineEvent, _ label: @autoclosure () -> String) {
        world.note("\(name) ← \(label())")
        world.after(world.briefly, for: self) { self.take(event) }
    }

    func hear(_ event: EngineEvent) {
        guard isRunning else { return }
        tell(event, "a change")
    }

    private func carryOut(_ action: EngineAction) {
        let store = world.store
        func reach(_ run: @escaping () -> Void) {
            world.after(world.briefly, for: self, run)
        }
        switch action {
        case .claim: hasClaim = true
        case .lock(let ticket, let isClaiming):
            hasClaim = isClaiming
            let deadline = world.now + .seconds(5)
            reach { store.lock(self, ticket, until: deadline) }
        case .release(let ticket, let isLeft): store.release(self, ticket, leavingMark: isLeft)
        case .read(let ticket):
            var holder: ModelLease?
            if case .reading = engine.phase { holder = lease }
            reach { store.read(self, ticket, under: holder) }
        case .spend(let ticket, let session):
            let lease = lease
            reach { store.spend(self, ticket, session, under: lease) }
        case .save(let ticket, let session, let read, _):
            let lease = lease
            reach { store.save(self, ticket, session, over: read, under: lease) }
        case .lookForClaim(let ticket):
            reach {
                let isHeard = store.takesClaims(for: self)
                let isClaimed = (isHeard ? self.world.processes : self.siblings).contains {
                    $0 !== self && $0.isClaiming
                }
                self.take(.claimed(ticket, isClaimed || isHeard ? isClaimed : nil))
            }
        case .ask(let ticket, _, let grant, _, _):
            requestLeases[ticket] = lease
            prepare(ticket, grant)
        case .hangUp(let ticket):
            open.remove(ticket)
            requestLeases[ticket] = nil
            world.provider.hangUp(self, ticket)
        case .probe(let ticket, _): world.provider.probe(self, ticket)
        case .judge(let ticket, _, let outcome, _): tell(.judged(ticket, outcome), "judged")
        case .revoke, .followClients: break
        case .publish(let target, let snapshot):
            published[target] = snapshot
            check(snapshot)
        case .wake(let id, let answer):
            if case .token(let snapshot) = answer { check(snapshot) }
            answered(id)
        case .perform(let ticket, let command, let session): perform(ticket, command, session)
        case .finish(let id, let result): finished(id, result)
        case .report: break
        case .ring(let moment): ring(at: moment)
        case .quiet: quiet()
        }
    }

    /// Looks whether requests may use an access token.
    private func check(_ snapshot: AccessTokenSnapshot?) {
        guard let snapshot else { return }
        if snapshot.expiry <= world.now { world.fail("\(name) gives what has expired") }
        if invalidated.contains(where: { $0.matches(snapshot.token) }) {
            world.fail("\(name) gives what was not to be used again")
        }
    }

    /// Whether it waits for the lease with a claim that others can see.
    private var isClaiming: Bool {
        hasClaim && isRunning && !isFrozen && !view.isCutOff && phase == "locking"
    }

    var lease: ModelLease? { engine.lease.flatMap { leases[$0.ticket] } }

    private func ring(at moment: Instant?) {
        alarm += 1
        let mine = alarm
        guard let moment else { return }
        if moment <= world.now { world.fail("\(name) wants to be woken at once") }
        world.after(moment - world.now, for: self) {
            if self.alarm == mine { self.take(.timePassed) }
        }
    }

    func answered(_ id: WaiterID) {
        if waiting.removeValue(forKey: id) == nil { world.fail("waiter \(id) of \(name) got two answers") }
    }

    // MARK: Its end

    /// Stops once nothing is under way, after trying to write for a while.
    func stop() {
        guard isRunning, stopEnd == nil else { return }
        world.note("\(name) is to stop")
        stopEnd = world.now + world.seconds(0...20)
        take(.stopping)
    }

    private func quiet() {
        let mine = incarnation
        world.after(.zero, for: self) {
            guard self.incarnation == mine, let end = self.stopEnd, self.engine.isQuiet else { return }
            if self.engine.needsWriting, self.world.now < end { return self.writeAtEnd() }
            self.take(.stopped)
            self.stopped()
        }
    }

    private func writeAtEnd() {
        guard !isWritingAtEnd else { return }
        isWritingAtEnd = true
        let id = newID()
        waiting[id] = world.now + .seconds(300)
        take(.commanded(id, .write))
        world.after(.seconds(1), for: self) {
            self.isWritingAtEnd = false
            self.quiet()
        }
    }

    private func stopped() {
        world.note("\(name) stops\(engine.needsWriting ? " and loses its session" : "")")
        // One that the store is away for cannot know that it has lost what nobody else has.
        let isUnaware = isAlone && world.store.isOutOfReach(for: self)
        if mayHaveSpent || engine.needsWriting || isUnaware {
            world.provider.excuse(engine.session.refreshToken)
        }
        if engine.needsWriting { world.provider.abandon(by: self) }
        for _ in waiting { world.fail("\(name) stops and leaves somebody waiting") }
        world.store.died(self)
        (stopEnd, isWritingAtEnd) = (nil, false)
        isRunning = false
        incarnation += 1
        world.after(world.seconds(0.1...20)) { if !self.isRunning { self.begin() } }
    }

    // MARK: Requests and people

    func newID() -> Int {
        nextID += 1
        return nextID
    }

    private func somethingHappens() {
        guard let target = world.targets.indices.randomElement(using: &world.random) else { return }
        let deadline = world.now + .seconds(10)
        switch Int.random(in: 0..<20, using: &world.random) {
        case 0..<10: wait { .tokenNeeded(target, by: $0, until: deadline, isRenewed: false) }
        case 10 where !world.isQuiet:
            wait { .refreshRequested(target, TokenAdditions(), by: $0, until: deadline) }
        case 11 where !world.isQuiet:
            if let token = published[target]?.token { invalidated.append(token) }
            wait { .tokenInvalidated(target, by: $0, until: deadline) }
        case 12, 13, 14: refuse(target, until: deadline)
        case 15 where world.faults.changesSessions && !world.isQuiet: command()
        default: break
        }
        if !world.isQuiet { world.somethingBreaks(near: self) }
    }

    private func wait(_ event: (WaiterID) -> EngineEvent) {
        let id = newID()
        waiting[id] = world.now + .seconds(10)
        take(event(id))
    }

    private func refuse(_ target: TargetID, until deadline: Instant) {
        guard let token = published[target] else { return }
        let route = "/\(Int.random(in: 0..<2, using: &world.random))"
        if world.chance(50) {
            return take(.tokenAccepted(target, generation: token.generation, route: route, isReplayed: false))
        }
        let rejection = TokenRejection(
            generation: token.generation, route: route, canReplay: world.chance(70),
            isReplayed: world.chance(20))
        wait { .tokenRejected(target, rejection, by: $0, until: deadline) }
    }
}
