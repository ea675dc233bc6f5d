// SPDX-License-Identifier: Apache-2.0

import OAuth

/// Each returns what was seen that breaks the promise of its name.
extension Trial {
    func keeps() async throws(StoreError) -> [String] {
        guard try await one.load(identity) == nil else { return ["what was never saved is loaded"] }
        var whole = session(1)
        // Tokens with many groups are long, and more beside them.
        whole.idToken = Secret(String(repeating: "not-an-id-token.", count: 16 << 10))
        whole.began = WallTime(secondsSinceEpoch: 1_800_000_000)
        let failure = try await locked(one) { [whole] lease -> StoreError? in
            do throws(StoreError) {
                try await lease.save(whole, over: nil, keepingPrevious: true)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
        var reasons: [String] = []
        for (store, name) in [(one, "the one who saved it"), (other, "another opening")] {
            let loaded = try await store.load(identity)
            if loaded?.encoded() != whole.encoded() { reasons.append("\(name) loads something else") }
        }
        for (name, difference) in alikeNames where try await one.load(name) != nil {
            reasons.append("names that differ \(difference) are one")
        }
        return reasons
    }

    func oneStep() async throws(StoreError) -> [String] {
        let (writers, rounds) = (8, 5)
        let tasks = (0..<writers).map { number in
            Task { () -> StoreError? in
                do throws(StoreError) {
                    for _ in 0..<rounds { try await countOn(number.isMultiple(of: 2) ? one : other) }
                    return nil
                } catch {
                    return error
                }
            }
        }
        for task in tasks {
            if let failure = await task.value { throw failure }
        }
        let counted = try await generation(other) ?? 0
        return counted == writers * rounds
            ? [] : ["\(writers * rounds) changes at once made \(counted) of them"]
    }

    func excludes() async throws(StoreError) -> [String] {
        var reasons: [String] = []
        let holder = try await one.lock(identity, waitingAtMost: patience)
        for (store, name) in [(one, "the same opening"), (other, "another opening")] {
            do throws(StoreError) {
                try await locked(store, waitingAtMost: .zero) { _ in }
                reasons.append("\(name) has the lock at the same time")
            } catch {
                if !error.isBusy { reasons.append("who may not have it gets \(error.code), not busy") }
            }
        }
        if try await other.load(identity) != nil { reasons.append("there is something before it was saved") }
        let neighbour = Trial(identity: Trial.newIdentity(), one: one, other: other, patience: patience)
        do throws(StoreError) {
            try await neighbour.locked(other, waitingAtMost: patience) { _ in }
        } catch {
            reasons.append("another identity is locked too")
        }
        let next = Task { () -> StoreError? in
            do throws(StoreError) {
                try await locked(other) { _ in }
                return nil
            } catch {
                return error
            }
        }
        await holder.release()
        if await next.value != nil { reasons.append("who waits does not get a lock that is given up") }
        return reasons
    }

    func losesPatience() async throws(StoreError) -> [String] {
        let holder = try await one.lock(identity, waitingAtMost: patience)
        var reasons: [String] = []
        let start = ContinuousClock.now
        do throws(StoreError) {
            try await locked(other, waitingAtMost: .milliseconds(50)) { _ in }
            reasons.append("it ran with somebody else's lock")
        } catch {
            if !error.isBusy { reasons.append("who waited too long gets \(error.code), not busy") }
        }
        if ContinuousClock.now - start > .seconds(5) { reasons.append("50 ms were 5 s and more") }
        await holder.release()
        return reasons
    }

    func forgetsCancelled() async throws(StoreError) -> [String] {
        let holder = try await one.lock(identity, waitingAtMost: patience)
        let waiter = Task { () -> (ran: Bool, failure: StoreError?) in
            do throws(StoreError) {
                return (try await locked(other, waitingAtMost: .seconds(600)) { _ in true }, nil)
            } catch {
                return (false, error)
            }
        }
        waiter.cancel()
        let (ran, failure) = await waiter.value
        await holder.release()
        try await locked(one, waitingAtMost: patience) { _ in }
        if ran { return ["who was cancelled ran with somebody else's lock"] }
        return failure?.isBusy == true ? [] : ["who is cancelled does not hear that the lock is busy"]
    }

    func givesUp() async throws(StoreError) -> [String] {
        try await countOn(one)
        try await countOn(one)
        let refusal = try await locked(one) { lease in await save(1, over: 2, by: lease) }
        var reasons: [String] = []
        if refusal != .outdated { reasons.append("an older session is saved over a newer one") }
        do throws(StoreError) {
            try await locked(other, waitingAtMost: patience) { _ in }
        } catch {
            reasons.append("the lock is kept after a save that was refused")
        }
        return reasons
    }

    func compares() async throws(StoreError) -> [String] {
        let holder = try await one.lock(identity, waitingAtMost: patience)
        var reasons: [String] = []
        func expect(_ expected: StoreError?, _ generation: Int, over read: Int?) async {
            let outcome = await save(generation, over: read, by: holder)
            guard outcome != expected else { return }
            let said = read.map { "\($0)" } ?? "nothing"
            reasons.append(
                "generation \(generation) by who has read \(said) is \(outcome == nil ? "saved" : "refused")")
        }
        await expect(nil, 3, over: nil)
        await expect(.outdated, 4, over: nil)
        await expect(.outdated, 4, over: 2)
        await expect(.outdated, 3, over: 3)
        await expect(.outdated, 2, over: 3)
        await expect(nil, 4, over: 3)
        // An older copy that somebody put back does not stand in the way of who knows better.
        await expect(nil, 7, over: 6)
        await holder.release()
        if reasons.isEmpty, try await generation(other) != 7 { reasons.append("what was saved is not there") }
        return reasons
    }

    func endsLeases() async throws(StoreError) -> [String] {
        let late = try await locked(one) { $0 }
        var reasons: [String] = []
        for isHeldByOthers in [false, true] {
            let holder = isHeldByOthers ? try await other.lock(identity, waitingAtMost: patience) : nil
            if await save(1, over: nil, by: late) != .leaseLost {
                reasons.append("a lease that has ended saves")
            }
            do throws(StoreError) {
                try await late.spend(session(1))
                reasons.append("a lease that has ended lets a refresh token be spent")
            } catch {
                if error != .leaseLost { reasons.append("a lease that has ended says \(error.code)") }
            }
            await holder?.release()
        }
        if try await one.load(identity) != nil { reasons.append("something was saved without a lock") }
        return reasons
    }

    func tells() async throws(StoreError) -> [String] {
        let changes = other.changes(of: identity)
        // A new listener may hear of a change from before, so the first change is counted on alone.
        try await countOn(one)
        let listener = Task {
            for await _ in changes {
                if let generation = try? await generation(other), generation >= 2 { return true }
            }
            return false
        }
        try await countOn(one)
        return await listener.value ? [] : ["the stream of changes ends"]
    }
}
