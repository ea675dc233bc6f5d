// SPDX-License-Identifier: Apache-2.0

/// The beginning and the end of an identity and its targets.
extension Identity {
    private static let writePause: Duration = .seconds(5)
    private static let writePauseAtEnd: Duration = .seconds(1)

    /// True once tokens are kept fresh, until the end.
    var isStarted: Bool { listener != nil && !engine.isStopping }

    /// True while it waits for the lease with a claim.
    var isClaiming: Bool { engine.isClaiming }

    /// True if every target is to end.
    var isLeaving: Bool { engine.isLeaving }

    /// Reads the store, takes over what an identity of the same name that is to end could not write, and keeps tokens fresh
    /// from then on.
    ///
    /// A cancelled caller waits for none of that.
    func start() async {
        guard !engine.isStopping, listener == nil else { return }
        let changes = store.changes(of: name)
        listener = Task(executorPreference: executor as? any TaskExecutor) { [weak self] in
            for await _ in changes { await self?.take(.storeChanged(isWritable: true)) }
        }
        let waiter = OneTimeWaiter<Void>()
        Task {
            // What is stored is known first: until then nobody can say that a person must log in.
            await look()
            for namesake in family.namesakes(of: self) where await namesake.isLeaving {
                await namesake.handOver()
            }
            take(.started)
            waiter.wake(with: .success(()))
        }
        try? await waiter.value()
    }

    // MARK: The end

    /// Begins nothing any more, and waits for what is under way, a login or a logout too.
    private func quiesce() async {
        guard !engine.phase.isStopped else { return }
        take(.stopping)
        if case .locking = engine.phase {} else { locking?.cancel() }
        listener?.cancel()
        await quiet()
        await leftovers?.value
        await quiet()
    }

    /// Returns when nothing is under way; a cancelled caller waits no longer for the store's lock.
    private func quiet() async {
        while !engine.isQuiet {
            let waiter = OneTimeWaiter<Void>()
            quietWaiters.append(waiter)
            do throws(TokenError) {
                try await waiter.value()
            } catch {
                hurry()
                return await Task { await quiet() }.value
            }
        }
    }

    private func hurry() {
        locking?.cancel()
        take(.hurried)
    }

    /// Ends a target whose session nobody has any more; the last one asks for nothing from here on.
    func drop(_ target: TargetID) {
        if let slot = members.removeValue(forKey: target)?.slot { family.leave(slot) }
        take(engine.targets.count > 1 ? .targetLeft(target) : .targetLeaves(target))
    }

    /// Ends a target; the last one ends the identity.
    ///
    /// - Returns: whether nothing is lost.
    func stop(_ target: TargetID, savingFor limit: Duration, evenIfRefused isForAll: Bool) async -> Bool {
        guard await endUnlessLast(target) else { return true }
        let end = clock.now + min(limit, ClientConfiguration.longestLifetime)
        await quiesce()
        // Somebody may have taken away just now what is stored.
        if limit > .zero, !engine.needsWriting {
            await look(until: min(end, clock.now + Self.writePauseAtEnd))
        }
        while engine.needsWriting, !engine.phase.isStopped {
            await write()
            if await handOver() { break }
            guard isUnsaved, isForAll || engine.storeTrouble?.error.isRefused != true, clock.now < end,
                (try? await clock.sleep(until: min(end, clock.now + Self.writePauseAtEnd))) != nil
            else { break }
        }
        return await finish()
    }

    /// Ends a target as ``stop(_:savingFor:evenIfRefused:)`` does, but the last one not while it alone has what could not
    /// be had again.
    func retire(_ target: TargetID) async {
        guard await endUnlessLast(target) else { return }
        await quiesce()
        // Whoever has the lease may be about to send the refresh token that ours has taken the place of.
        while isUnsaved, !engine.phase.isStopped, await !handOver() {
            await write()
            guard isUnsaved, (try? await clock.sleep(until: clock.now + Self.writePause)) != nil else {
                break
            }
        }
        if engine.needsWriting, !engine.phase.isStopped {
            await write()
            await handOver()
        }
        _ = await finish()
    }

    private func finish() async -> Bool {
        let isWhole = !isUnsaved
        take(.stopped)
        await releasing?.value
        listener?.cancel()
        listeners.finish()
        return isWhole
    }

    /// Ends a target now, unless it is the last one; the last one is left to the caller.
    private func endUnlessLast(_ target: TargetID) async -> Bool {
        guard engine.targets.contains(where: { $0.key != target }) else { return true }
        take(.targetLeaves(target))
        let limit = clock.now + UnansweredRefresh.longestWait
        // Its request that was left for others may bring the refresh token of all.
        while engine.adrift?.target == target, engine.isAdriftAwaited, clock.now < limit {
            guard (try? await clock.sleep(until: clock.now + Self.writePauseAtEnd)) != nil else { break }
        }
        if engine.targetInHand == target {
            _ = try? await wait { .attemptAwaited(target, by: $0, until: limit) }.value()
        }
        // The others may have ended meanwhile.
        guard engine.targets.contains(where: { $0.key != target }) else { return true }
        if let slot = members[target]?.slot { family.leave(slot) }
        take(.targetLeft(target))
        members[target] = nil
        return false
    }

    /// Writes what is in memory only, unless another process stored something newer.
    private func write() async {
        let writing = Task { _ = await perform(.write) }
        await withTaskCancellationHandler {
            await writing.value
        } onCancel: {
            Task { await self.hurry() }
        }
        // What could not be written may be on its way to another identity.
        await quiet()
    }

    // MARK: What could not be written

    /// True if what could not be had again is in memory alone.
    var isUnsaved: Bool { engine.needsWriting && engine.isIrreplaceable }

    /// Why what could not be had again is in memory alone; nil if it is not.
    var unsavedReason: String? {
        isUnsaved ? engine.storeTrouble?.error.reason ?? "the store was not asked yet" : nil
    }

    /// True if it is the end of a session that is in memory alone.
    var isEndUnsaved: Bool { isUnsaved && engine.isEnd }

    /// Has another identity of the same name write what this one could not.
    ///
    /// - Returns: whether one does.
    @discardableResult
    func handOver() async -> Bool {
        let namesakes = family.namesakes(of: self)
        guard engine.mayHandOver, !namesakes.isEmpty else { return false }
        let ticket = engine.newTicket()
        take(.handingOver(ticket))
        let given = engine.inheritance
        let lease = given.lease.flatMap { leases[$0.ticket] }
        var isTaken = false
        for namesake in namesakes where !isTaken { isTaken = await namesake.inherit(given, lease) }
        if isTaken, let held = given.lease { leases[held.ticket] = nil }
        take(.handedOver(ticket, isTaken: isTaken))
        return isTaken && !engine.needsWriting
    }

    private func inherit(_ given: Inheritance, _ lease: (any StoreLease)?) async -> Bool {
        guard isStarted, !isLeaving else { return false }
        // What is stored may be newer by now.
        if engine.mayReadUnlocked { guard await look() == nil else { return false } }
        guard isStarted, engine.mayInherit(given.session) else { return false }
        var given = given
        given.lease?.ticket = engine.newTicket()
        if let held = given.lease { leases[held.ticket] = lease }
        take(.inherited(given))
        return true
    }
}
