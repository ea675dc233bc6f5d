// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

@testable import OAuth

/// A store with every fault that a server or a disk can have; locks, marks and outages are those of Redis' scripts, or of
/// lock files where the kernel keeps the lock.
final class ModelStore {
    private unowned let world: ModelWorld
    private(set) var record: StoredSession?
    private var previous: StoredSession?
    private var mark: ModelMark?
    private var holder: (owner: String, process: String, until: Instant)?
    /// When each process was last seen to hold a lease.
    private var signs: [String: Instant] = [:]
    private var isAway = false
    private var refusesWrites = false
    /// Until when nobody could write what was lost.
    private(set) var refusalEnd: Instant

    init(_ world: ModelWorld) {
        self.world = world
        refusalEnd = world.start
    }

    func begin(_ session: StoredSession) { record = session }

    private var term: Duration? { world.faults.leaseTerm }

    /// When a process was last seen.
    func lastSign(of process: String) -> Instant { signs[process] ?? world.start }

    func isMarked(by process: ModelProcess) -> Bool {
        mark?.owner?.hasPrefix("\(process.name)/") ?? false
    }

    private func sign(_ process: ModelProcess) { signs[process.name] = world.now }

    /// Whether a command fails, as the first one does after a failover.
    private func isUnreachable(for process: ModelProcess) -> Bool {
        defer { process.view.isConnectionLost = false }
        guard isAway || process.view.isCutOff || process.view.isConnectionLost else { return false }
        process.view.mayLackSince = world.now
        return true
    }

    /// Why a command that writes fails: a server that takes nothing takes no lock and no mark either.
    private func refusal(of process: ModelProcess) -> StoreError? {
        if isUnreachable(for: process) { return .unreachable("away") }
        return refusesWrites && term != nil ? .unavailable("read-only") : nil
    }

    /// Whether a process could hear now of somebody who claims a lease; kernels' locks are claimed beside the store.
    func takesClaims(for process: ModelProcess) -> Bool {
        term == nil || !refusesWrites && !isOutOfReach(for: process)
    }

    func isOutOfReach(for process: ModelProcess) -> Bool { isAway || process.view.isCutOff }

    // MARK: Locks

    func lock(_ process: ModelProcess, _ ticket: Ticket, until deadline: Instant) {
        if let error = refusal(of: process) {
            process.view.watch = nil
            return process.tell(.leaseRefused(ticket, error), "refused")
        }
        guard let lease = acquire(process, ticket) else {
            guard world.now < deadline else {
                return process.tell(.leaseRefused(ticket, .busy(by: holder?.owner)), "busy")
            }
            return world.after(.milliseconds(200), for: process) {
                self.lock(process, ticket, until: deadline)
            }
        }
        world.note("\(process.name) has the lease \(ticket)")
        process.leases[ticket] = lease
        sign(process)
        process.tell(.leased(ticket), "leased")
    }

    private func acquire(_ process: ModelProcess, _ ticket: Ticket) -> ModelLease? {
        expire()
        let lease = ModelLease(ticket, of: process, until: term.map { world.now + $0 })
        if let term {
            let known = max(record?.generation ?? 0, process.view.tokenGeneration)
            let foreign = mark.flatMap { $0.owner != nil && $0.generation >= known ? $0 : nil }
            let abandoned = process.view.watch.flatMap { $0.last - $0.begin >= term ? $0.mark : nil }
            if let foreign {
                let goesOn =
                    process.view.watch.map { $0.mark == foreign && world.now - $0.last <= term / 3 } ?? false
                process.view.watch = ModelMarkWatch(
                    mark: foreign, begin: goesOn ? process.view.watch?.begin ?? world.now : world.now,
                    last: world.now)
            } else {
                process.view.watch = nil
            }
            if holder != nil || foreign != nil && foreign != abandoned { return nil }
        } else if holder != nil {
            return nil
        }
        holder = (lease.owner, process.name, world.now + (term ?? .seconds(1_000_000)))
        lease.markFound = mark
        return lease
    }

    func release(_ process: ModelProcess, _ ticket: Ticket, leavingMark isLeft: Bool) {
        guard let lease = process.leases.removeValue(forKey: ticket) else { return }
        lease.isOver = true
        release(lease, of: process, leavingMark: isLeft)
    }

    private func release(_ lease: ModelLease, of process: ModelProcess, leavingMark isLeft: Bool) {
        if term != nil, refusal(of: process) != nil {
            return world.after(.seconds(1), for: process) {
                self.release(lease, of: process, leavingMark: isLeft)
            }
        }
        if let mark, mark.owner == lease.owner {
            self.mark = isLeft ? ModelMark(generation: mark.generation, owner: nil) : nil
        }
        if holder?.owner == lease.owner { holder = nil }
    }

    private func expire() {
        if let holder, holder.until <= world.now { self.holder = nil }
    }

    /// Extends a lease, or takes the lock anew where its holder has sent a refresh token.
    func renew(_ lease: ModelLease, of process: ModelProcess) -> Bool {
        guard let term else { return true }
        if refusal(of: process) != nil { return false }
        expire()
        if holder?.owner != lease.owner {
            guard let spending = lease.spending, (record?.generation ?? 0) <= spending, holder == nil,
                !(mark.map { $0.owner != nil && $0.owner != lease.owner && $0.generation >= spending }
                    ?? false)
            else {
                lease.isOver = true
                return false
            }
            if record == nil, let known = process.view.lastRecord {
                record = known
                tellOthers(of: process)
            }
            mark = ModelMark(generation: spending, owner: lease.owner)
            holder = (lease.owner, process.name, world.now)
            process.hear(.storeChanged(isWritable: true))
        }
        holder?.until = world.now + term
        lease.end = world.now + term
        sign(process)
        return true
    }

    /// Makes sure that nobody else can hold the lock.
    private func hold(_ lease: ModelLease?, _ process: ModelProcess) -> StoreError? {
        guard let lease, process.leases[lease.ticket] != nil else { return .leaseLost }
        if let error = refusal(of: process) { return error }
        let isHeld = lease.isHeld(at: world.now)
        if !isHeld {
            guard lease.spending != nil, !lease.isOver else { return .leaseLost }
            guard renew(lease, of: process) else { return .leaseLost }
        }
        return nil
    }

    // MARK: Reading and writing

    func read(_ process: ModelProcess, _ ticket: Ticket, under lease: ModelLease?) {
        if isUnreachable(for: process) {
            return process.tell(.recordRead(ticket, .failure(.unreachable("away"))), "cannot read")
        }
        process.view.noteRead(record, at: world.now)
        var isLeftSpent = false
        if let stored = record, let left = lease?.markFound,
            term == nil ? left.generation == stored.generation : left.generation >= stored.generation
        {
            isLeftSpent = true
        }
        let lack = [process.view.mayLackSince, process.view.loss].compactMap(\.self).max()
        var found = StoreRecord(session: record, settledAt: term.flatMap { term in lack.map { $0 + term } })
        found.isLeftSpent = isLeftSpent
        process.tell(
            .recordRead(ticket, .success(found)),
            "read \(ModelProvider.describe(record))\(mark.map { ", marked \($0.generation)" } ?? "")")
    }

    func spend(_ process: ModelProcess, _ ticket: Ticket, _ session: StoredSession, under lease: ModelLease?)
    {
        if let error = hold(lease, process) {
            return process.tell(.spent(ticket, .failure(error)), "cannot mark")
        }
        expire()
        guard let lease, holder?.owner == lease.owner else {
            return process.tell(.spent(ticket, .failure(.leaseLost)), "cannot mark")
        }
        if term != nil {
            lease.mayBeSpent =
                mark.map { $0.generation >= session.generation && $0.owner != lease.owner } ?? false
        } else if lease.spending == nil {
            lease.mayBeSpent = mark?.generation == session.generation
        }
        let generation = term == nil ? session.generation : max(lease.spending ?? 0, session.generation)
        lease.spending = generation
        mark = ModelMark(generation: generation, owner: lease.owner)
        if let term {
            holder?.until = world.now + term
            lease.end = world.now + term
        }
        sign(process)
        process.tell(.spent(ticket, .success(lease.mayBeSpent)), "marked")
    }

    func save(
        _ process: ModelProcess, _ ticket: Ticket, _ session: StoredSession, over read: StoredSession?,
        under lease: ModelLease?
    ) {
        func refuse(_ error: StoreError, _ label: String) {
            process.tell(.notSaved(ticket, error, hasMoved: false), label)
        }
        if let error = hold(lease, process) { return refuse(error, "cannot save: \(error.code)") }
        expire()
        if let lease, holder?.owner != lease.owner, lease.spending == nil || !renew(lease, of: process) {
            return refuse(.leaseLost, "lost the lease")
        }
        if refusesWrites { return refuse(.unavailable("read-only"), "cannot save") }
        do throws(StoreError) {
            try session.checkReplacing(record, read: read)
        } catch {
            return refuse(error, "outdated")
        }
        world.provider.checkReplacing(record, with: session, by: process)
        previous = record
        record = session
        mark = nil
        lease?.spending = nil
        process.view.noteRead(session, at: world.now)
        world.note("\(process.name) stores \(ModelProvider.describe(session))")
        if !world.isQuiet, world.faults.breaksStore, world.chance(2) {
            refuse(.unreachable("the answer was lost"), "saved, and not told")
        } else {
            process.tell(.saved(ticket), "saved")
        }
        tellOthers(of: process)
    }

    private func tellOthers(of process: ModelProcess) {
        for other in world.processes where other !== process { other.hear(.storeChanged(isWritable: true)) }
    }

    func died(_ process: ModelProcess) {
        guard term == nil, holder?.process == process.name else { return }
        holder = nil
    }

    // MARK: Faults

    func goAway(for length: Duration) {
        guard !isAway else { return }
        isAway = true
        for process in world.processes { process.view.mayLackSince = world.now }
        world.note("the store is away")
        world.after(length) {
            self.isAway = false
            for process in self.world.processes {
                process.view.mayLackSince = self.world.now
                process.hear(.storeChanged(isWritable: true))
            }
        }
    }

    func refuseWrites(for length: Duration) {
        guard !refusesWrites else { return }
        refusesWrites = true
        refusalEnd = world.now + length
        world.note("the store takes nothing")
        world.after(length) { self.refusesWrites = false }
        proveThatSignsCanBeGiven()
    }

    /// Looks every second, as processes do: while nothing can be written, nobody who has a newer session can write it first.
    private func proveThatSignsCanBeGiven() {
        guard refusesWrites, let term else { return }
        for process in world.processes where !isUnreachable(for: process) {
            process.view.cannotWrite(term, at: world.now)
        }
        world.after(.seconds(1)) { self.proveThatSignsCanBeGiven() }
    }

    /// All of it is gone, or the last save: a restart without data, or a failover.
    func lose(everything: Bool) {
        world.note(everything ? "the store is emptied" : "the store loses its last save")
        record = everything ? nil : previous ?? record
        mark = nil
        holder = nil
        world.provider.marksAreLost()
        for process in world.processes {
            if !everything { process.view.isConnectionLost = true }
            process.hear(.storeChanged(isWritable: true))
        }
    }
}
