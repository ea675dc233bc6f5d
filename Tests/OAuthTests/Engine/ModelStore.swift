// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

@testable import OAuth

/// A store with every fault that a server or a disk can have.
final class ModelStore {
    private unowned let world: ModelWorld
    private(set) var record: StoredSession?
    private var previous: StoredSession?
    /// By owner, the refresh tokens that it names.
    private var marks: [String: Set<String>] = [:]
    private var holder: (owner: String, ticket: Ticket, until: Instant)?
    /// When each owner was last seen, while it had a mark or wanted one.
    private var signs: [String: Instant] = [:]
    private var isAway = false
    private var refusesWrites = false

    init(_ world: ModelWorld) { self.world = world }

    func begin(_ session: StoredSession) { record = session }

    private var term: Duration? { world.faults.leaseTerm }

    /// Since when nothing was seen of an owner.
    func lastSign(of owner: String) -> Instant { signs[owner] ?? world.start }

    /// Whether a command fails, as the first one does after a failover.
    func isUnreachable(for process: ModelProcess) -> Bool {
        defer { process.isConnectionLost = false }
        return isAway || process.isCutOff || process.isConnectionLost
    }

    // MARK: What processes ask

    func lock(_ process: ModelProcess, _ ticket: Ticket, until deadline: Instant) {
        if isUnreachable(for: process) {
            return process.tell(.leaseRefused(ticket, .unreachable("away")), "refused")
        }
        expire()
        guard holder == nil else {
            guard world.now < deadline else {
                return process.tell(.leaseRefused(ticket, .busy(by: holder?.owner)), "busy")
            }
            return world.after(.milliseconds(200), for: process) {
                self.lock(process, ticket, until: deadline)
            }
        }
        holder = (process.name, ticket, world.now + (term ?? .seconds(1_000_000)))
        world.note("\(process.name) has the lease \(ticket)")
        process.held = ticket
        process.tell(.leased(ticket), "leased")
    }

    func release(_ process: ModelProcess, _ ticket: Ticket) {
        if process.held == ticket { process.held = nil }
        guard !isUnreachable(for: process) || term == nil else { return }
        if holder?.owner == process.name, holder?.ticket == ticket { holder = nil }
    }

    func read(_ process: ModelProcess, _ ticket: Ticket) {
        if isUnreachable(for: process) {
            return process.tell(.recordRead(ticket, .failure(.unreachable("away"))), "cannot read")
        }
        if let tokens = process.markedTokens {
            // A driver that reaches the store sees to its mark first.
            marks[process.name] = tokens
            sign(process)
        }
        let found = marks.keys.sorted().map { owner in
            SpendingMark(
                owner: owner, tokens: marks[owner] ?? [], isOurs: owner == process.name,
                isOwnerAlive: isAlive(owner))
        }
        process.tell(
            .recordRead(ticket, .success(StoreRecord(session: record, marks: found))),
            "read \(ModelProvider.describe(record))\(marks.isEmpty ? "" : ", marked by \(marks.keys.sorted())")"
        )
    }

    private func isAlive(_ owner: String) -> Bool {
        guard let term else { return world.processes.contains { $0.name == owner && $0.isRunning } }
        return lastSign(of: owner) + term > world.now
    }

    func spend(_ process: ModelProcess, _ ticket: Ticket, _ tokens: [Secret], under lease: Ticket?) {
        if let error = writeError(process, under: lease) {
            return process.tell(.spent(ticket, .failure(error)), "cannot mark")
        }
        process.markedTokens = Set(tokens.map(SpendingMark.name))
        marks[process.name] = process.markedTokens
        sign(process)
        process.tell(.spent(ticket, .success(())), "marked")
    }

    func disclaim(_ process: ModelProcess) {
        process.markedTokens = nil
        if !isUnreachable(for: process) { marks[process.name] = nil }
    }

    func save(
        _ process: ModelProcess, _ ticket: Ticket, _ session: StoredSession, over read: StoredSession?,
        under lease: Ticket?
    ) {
        if let error = writeError(process, under: lease) {
            return process.tell(.saved(ticket, .failure(error)), "cannot save: \(error.code)")
        }
        do throws(StoreError) {
            try session.checkReplacing(record, read: read)
        } catch {
            return process.tell(.saved(ticket, .failure(error)), "outdated")
        }
        world.provider.checkReplacing(record, with: session, by: process)
        previous = record
        record = session
        let name = session.refreshToken.map(SpendingMark.name) ?? ""
        marks = marks.filter { $0.value.contains(name) }
        world.note("\(process.name) stores \(ModelProvider.describe(session))")
        if !world.isQuiet, world.faults.breaksStore, world.chance(2) {
            process.tell(.saved(ticket, .failure(.unreachable("the answer was lost"))), "saved, and not told")
        } else {
            process.tell(.saved(ticket, .success(())), "saved")
        }
        for other in world.processes where other !== process {
            other.hear(.storeChanged)
        }
    }

    private func writeError(_ process: ModelProcess, under lease: Ticket?) -> StoreError? {
        if isUnreachable(for: process) { return .unreachable("away") }
        expire()
        guard holder?.owner == process.name, holder?.ticket == lease else { return .leaseLost }
        return refusesWrites ? .unavailable("read-only") : nil
    }

    // MARK: Leases and signs of life

    private func expire() {
        if let holder, holder.until <= world.now { self.holder = nil }
    }

    /// What a process does for its lease and its mark every third of a term.
    func renew(_ process: ModelProcess) {
        guard let term else { return }
        if isUnreachable(for: process) { return loseLease(process, after: term) }
        expire()
        if let held = process.held {
            if holder?.owner == process.name, holder?.ticket == held {
                holder?.until = world.now + term
                process.lastRenewal = world.now
            } else {
                process.loseLease()
            }
        }
        guard let tokens = process.markedTokens else { return }
        sign(process)
        marks[process.name] = tokens
    }

    private func loseLease(_ process: ModelProcess, after term: Duration) {
        if process.held != nil, process.lastRenewal + term <= world.now { process.loseLease() }
    }

    func sign(_ process: ModelProcess) { signs[process.name] = world.now }

    func died(_ process: ModelProcess) {
        guard term == nil, holder?.owner == process.name else { return }
        holder = nil
    }

    // MARK: Faults

    func goAway(for length: Duration) {
        guard !isAway else { return }
        isAway = true
        world.note("the store is away")
        world.after(length) {
            self.isAway = false
            for process in self.world.processes { process.hear(.storeChanged) }
        }
    }

    func refuseWrites(for length: Duration) {
        guard !refusesWrites else { return }
        refusesWrites = true
        world.note("the store takes nothing")
        world.after(length) { self.refusesWrites = false }
    }

    /// All of it is gone, or the last save: a restart without data, or a failover.
    func lose(everything: Bool) {
        world.note(everything ? "the store is emptied" : "the store loses its last save")
        record = everything ? nil : previous ?? record
        marks = [:]
        holder = nil
        signs = [:]
        world.provider.marksAreLost()
        for process in world.processes {
            if !everything { process.isConnectionLost = true }
            process.hear(.storeChanged)
        }
    }
}
