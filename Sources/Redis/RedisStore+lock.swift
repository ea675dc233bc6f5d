// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdEventLoop
import BearerdRESP
import BearerdSystem
package import OAuth

/// The lock of an identity, and the marks that are waited for.
extension RedisStore {
    package func lock(
        _ identity: String, waitingAtMost limit: Duration
    ) async throws(StoreError) -> any StoreLease {
        let deadline = ContinuousClock.now + limit
        let owner = ownerToAsk(for: identity)
        var pause: Duration = .milliseconds(5)
        while true {
            let end = ContinuousClock.now + settings.leaseLife
            let lease = RedisLease(store: self, identity: identity, owner: owner, end: end)
            let answer: ScriptReply
            do throws(StoreError) {
                answer = try await acquire(lease)
            } catch {
                // Only the reply may have been lost: then the lock is ours.
                unreleased.append(lease)
                watch()
                throw error
            }
            if answer.word == .mine {
                lease.renewed(until: end)
                lease.found(mark: answer.rest)
                owners[identity] = owner
                _ = loop.startTask { await self.keepRenewing(lease) }
                return lease
            }
            let left = deadline - .now
            guard left > .zero, !Task.isCancelled else {
                let isOurs = answer.names(owners[identity])
                throw .busy(by: isOurs ? StoreError.thisProcess : answer.holder)
            }
            await loop.pause(for: min(pause * Double.random(in: 0.5...1), left))
            pause = min(pause * 2, .milliseconds(250))
        }
    }

    /// The owner for a new attempt; after an attempt without reply it is the same one, so that a lock the server gave
    /// meanwhile is ours.
    private func ownerToAsk(for identity: String) -> String {
        guard let index = unreleased.firstIndex(where: { $0.identity == identity && $0.isInDoubt })
        else { return "\(SecureRandom.word(bytes: 12)) process \(CurrentProcess.identifier) on \(Self.host)" }
        return unreleased.remove(at: index).owner
    }

    private func acquire(_ lease: RedisLease) async throws(StoreError) -> ScriptReply {
        let identity = lease.identity
        let abandoned = watches[identity]?.abandoned(after: settings.leaseLife) ?? ""
        let answer: ScriptReply
        do throws(StoreError) {
            let claim = ownClaim(on: identity)
            let claimArguments = claim.map { [Array($0.word.utf8), Array(Self.claimLife.utf8)] } ?? []
            answer = try await run(
                .acquire, keys: [lockKey, markKey, recordKey] + (claim == nil ? [] : [claimKey]), of: lease,
                [
                    leaseMilliseconds, Array(abandoned.utf8),
                    Array("\(newest[identity]?.tokenGeneration ?? 0)".utf8),
                ] + claimArguments)
        } catch {
            watches[identity] = nil
            throw error
        }
        watches[identity] = answer.mark.map { mark in
            MarkWatch(of: mark, at: .now, after: watches[identity], within: settings.leaseLife / 3)
        }
        return answer
    }

    /// Renews the lease until it is over: at a third of its life, and more often while others wait for a sign of us.
    private func keepRenewing(_ lease: RedisLease) async {
        var isLate = false
        while true {
            let third = settings.leaseLife / 3
            let pause =
                isLate ? Self.renewalPause : lease.spending == nil ? third : min(third, Self.lookPause)
            let moment = ContinuousClock.now + pause
            while !lease.isOver, .now < moment {
                await loop.pause(for: min(Self.renewalPause, moment - .now))
            }
            guard !lease.isOver else { return }
            do throws(StoreError) {
                try await renew(lease)
                isLate = false
            } catch {
                guard lease.isHeld || lease.spending != nil else { return lease.finish() }
                isLate = true
            }
        }
    }

    /// Extends the lease, or takes the lock anew if that is allowed.
    func renew(_ lease: RedisLease) async throws(StoreError) {
        let end = ContinuousClock.now + settings.leaseLife
        let spending = lease.spending
        let record = spending == nil ? [] : records[lease.identity] ?? []
        let answer = try await run(
            .renew, keys: [lockKey, markKey, recordKey], of: lease,
            [leaseMilliseconds, Array((spending.map { "\($0)" } ?? "").utf8), record])
        switch answer.word {
        case .mine:
            let isAnew = !lease.isHeld
            lease.renewed(until: end)
            // Saves that failed in between can be tried again.
            if isAnew { changed(lease.identity) }
        case .held: throw .busy(by: answer.holder)
        case .lost, .marked, .saved, .untold, .changed, .able, .unable, nil:
            lease.finish()
            throw .leaseLost
        }
    }

    func release(_ lease: RedisLease) async {
        do throws(StoreError) {
            _ = try await run(
                .release, keys: [lockKey, markKey], of: lease, [Array((lease.leavesMark ? "mark" : "").utf8)])
            reducedFeatures.remove(.releasing)
        } catch {
            if case .forbidden = error {
                tell(.releasing, missing("DEL NOPERM"))
                guard lease.mayLiveOn else { return }
            }
            unreleased.append(lease)
            watch()
        }
    }

    /// Releases what could not be released before, however late: a server that was frozen still executes old
    /// commands.
    func releaseAgain() async {
        let left = unreleased
        unreleased = []
        for lease in left { await release(lease) }
    }

    func run(
        _ script: RedisScript, keys: [(String) -> String], of lease: RedisLease, _ arguments: [[UInt8]]
    ) async throws(StoreError) -> ScriptReply {
        let names = keys.map { $0(lease.identity) }
        let command = script.command(keys: names, [Array(lease.owner.utf8)] + arguments)
        do throws(RedisError) {
            return ScriptReply(
                try await link.perform(command, isScript: true, goesFirst: script != .acquire))
        } catch {
            throw StoreError(error)
        }
    }

    var leaseMilliseconds: [UInt8] { Array("\(settings.leaseLife.components.seconds * 1000)".utf8) }

    private static let host = String(
        decoding: CurrentProcess.hostName.utf8.filter { 0x21...0x7E ~= $0 }.prefix(64), as: UTF8.self)
}
