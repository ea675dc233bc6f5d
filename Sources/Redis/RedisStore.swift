// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
package import BearerdEventLoop
import BearerdRESP
import BearerdSystem
package import BearerdTokenStore
package import OAuth

/// Sessions in Redis, shared by a fleet (`type: redis`).
///
/// Each identity has three keys. The record holds the generation and the sealed session; only the holder of the lock
/// replaces it, in one step with a comparison. The lock is a lease: it ends unless its holder renews it. The mark
/// names the generation whose refresh token the holder is sending: nobody else gets the lock before the outcome is
/// stored, or a whole lease has passed without a sign of the holder. A fourth key is there while somebody claims the lock.
/// Confined to its loop's thread.
package actor RedisStore: SessionStore, LoopConfined {
    package nonisolated let loop: EventLoop
    let settings: RedisSettings
    private let sealer: EncryptingSealer
    private let onEvent: @Sendable (RedisEvent) -> Void
    let link: RedisLink
    private var subscription: RedisSubscription?
    /// The head of each identity's record when it was last seen.
    private var seen: [String: [UInt8]?] = [:]
    /// The stamps of the records that were last read or written.
    private var stamps: [String: RedisRecord.Stamp] = [:]
    /// The time when a record was found missing, older than before, or rewritten.
    private var losses: [String: ContinuousClock.Instant] = [:]
    /// The damaged records that were reported.
    private var damaged: [String: [UInt8]?] = [:]
    /// The features whose missing rights were reported, and that have not worked since.
    var reducedFeatures: Set<ReducedFeature> = []
    private var watchers: [String: [Int: AsyncStream<Void>.Continuation]] = [:]
    private var lastWatcher = 0
    private var isWatching = false
    private var isClosed = false
    /// Locks and marks that may still be ours though nobody holds them.
    var unreleased: [RedisLease] = []
    /// The newest of each identity.
    var newest: [String: NewestRecord] = [:]
    /// The records that were last read or written, as Redis has them.
    var records: [String: [UInt8]] = [:]
    /// The claims of people in this process.
    var claims: [String: [HeldRedisClaim]] = [:]
    /// The owners in whose name the locks were last given.
    var owners: [String: String] = [:]
    /// The marks of others that are waited for.
    var watches: [String: MarkWatch] = [:]

    /// The pause between two looks for changes, and between two signs of a daemon that has sent a refresh token.
    static let lookPause: Duration = .seconds(1)
    /// The pause between two tries to renew a lease.
    static let renewalPause: Duration = .milliseconds(500)

    /// - Parameter loop: runs it; must not be a worker's.
    package init(
        _ settings: RedisSettings, sealer: EncryptingSealer, on loop: EventLoop,
        onEvent: @escaping @Sendable (RedisEvent) -> Void = { _ in }
    ) {
        self.settings = settings
        self.sealer = sealer.bound(to: settings.keyPrefix)
        self.loop = loop
        self.onEvent = onEvent
        link = RedisLink(settings, loop: loop, onChange: onEvent)
    }

    /// Closes the connections; later requests fail.
    package func close() async {
        isClosed = true
        await link.close()
        await subscription?.close()
        for continuation in watchers.values.flatMap(\.values) { continuation.finish() }
        watchers = [:]
    }

    // MARK: Sessions

    package func load(_ identity: String) async throws(StoreError) -> StoredSession? {
        let record = try await record(of: identity)
        seen[identity] = .some(record.head)
        note(record.stamp, of: identity)
        let content = record.content(of: identity, sealer)
        if let refusal = refusal(of: content, identity) { throw refusal }
        if case .damaged = content { tell(damaged: record, of: identity) } else { damaged[identity] = nil }
        records[identity] = nil
        if let session = content.session, case .present(let bytes) = record { know(session, as: bytes) }
        return content.session
    }

    private func know(_ session: StoredSession, as bytes: [UInt8]) {
        records[session.identity] = bytes
        newest[session.identity] = NewestRecord(session, after: newest[session.identity])
    }

    private func note(_ stamp: RedisRecord.Stamp?, of identity: String) {
        if let known = stamps[identity], stamp != known, stamp?.generation ?? 0 <= known.generation {
            losses[identity] = .now
        }
        stamps[identity] = stamp
    }

    private func record(of identity: String) async throws(StoreError) -> RedisRecord {
        let command = RESPCommand("GETRANGE", recordKey(identity), "0", "\(RedisRecord.maximumBytes)")
        do throws(RedisError) {
            guard let bytes = try await link.perform(command).bytes else { return .unreadable }
            // A missing key reads as an empty string, which no record is.
            guard !bytes.isEmpty else { return .missing }
            return bytes.count > RedisRecord.maximumBytes ? .unreadable : .present(bytes)
        } catch {
            if case .refused(_, .wrongType) = error { return .unreadable }
            throw StoreError(error)
        }
    }

    private func refusal(of content: RedisRecord.Content, _ identity: String) -> StoreError? {
        let place = "\(recordKey(identity)) in \(settings.server)"
        return switch content {
        case .foreign:
            .refused("\(place) \(sealer.foreignProblem)")
        case .later:
            .refused(
                "\(place) was written by a later version of bearerd, and is left as it is: run that version, or delete "
                    + "the key and log in")
        case .missing, .damaged, .whole: nil
        }
    }

    private func tell(damaged record: RedisRecord, of identity: String) {
        guard damaged[identity] != .some(record.head) else { return }
        damaged[identity] = .some(record.head)
        onEvent(.damaged(identity: identity, key: recordKey(identity)))
    }

    func save(
        _ session: StoredSession, over read: StoredSession?, under lease: RedisLease
    ) async throws(StoreError) {
        let present = try await record(of: session.identity)
        let content = present.content(of: session.identity, sealer)
        if let refusal = refusal(of: content, session.identity) { throw refusal }
        try session.checkReplacing(content.session, read: read)
        let bytes = RedisRecord.bytes(of: session, sealed: sealer)
        let (kind, old): (String, [UInt8]) =
            switch present {
            case .missing: ("none", [])
            case .present(let bytes): ("string", bytes)
            case .unreadable: ("any", [])
            }
        let answer = try await run(
            .save, keys: [lockKey, markKey, recordKey], of: lease,
            [Array(kind.utf8), old, bytes, Array(channel.utf8), Array(session.identity.utf8)])
        switch answer.word {
        case .saved: reducedFeatures.remove(.notifying)
        case .untold: tell(.notifying, missing("PUBLISH \(answer.rest)"))
        case .changed: throw .outdated
        case .lost, .mine, .held, .marked, .able, .unable, nil: throw .leaseLost
        }
        lease.stored()
        know(session, as: bytes)
        seen[session.identity] = .some(RedisRecord.present(bytes).head)
        note(RedisRecord.present(bytes).stamp, of: session.identity)
    }

    /// Marks that the refresh token of `session` is about to be sent.
    func spend(_ session: StoredSession, under lease: RedisLease) async throws(StoreError) {
        let generation = lease.spending ?? session.generation
        let end = ContinuousClock.now + settings.leaseLife
        let before = try await run(
            .spend, keys: [lockKey, markKey], of: lease,
            [Array("\(generation)".utf8), leaseMilliseconds])
        guard before.word == .marked else { throw .leaseLost }
        lease.renewed(until: end)
        lease.marked(overAnother: lease.isOfAnother(before.rest, notOlderThan: session))
    }

    /// A feature that works less well for want of a right.
    enum ReducedFeature {
        case notifying, subscribing, releasing, settling
    }

    /// Reports a missing right once, until it has worked again.
    func tell(_ feature: ReducedFeature, _ error: RedisError) {
        guard reducedFeatures.insert(feature).inserted else { return }
        onEvent(.hindered(reason: error.reason))
    }

    // MARK: What may be lacking

    package func settlement(of identity: String) async -> Instant? {
        let (ofServer, refusal) = await link.settlement(
            of: settings.identities.union(watchers.keys).union([identity]).map(recordKey))
        if let refusal { tell(.settling, refusal) } else { reducedFeatures.remove(.settling) }
        return [losses[identity].map { $0 + settings.leaseLife }, ofServer].compactMap(\.self).max()
    }

    /// Restarts the wait for other daemons' signs while nothing can be written: then nobody could give one.
    private func proveThatSignsCanBeGiven(of identity: String) async {
        guard let moment = await settlement(of: identity), .now < moment else { return }
        do throws(RedisError) {
            _ = try await link.perform(RESPCommand("SET", lockKey(""), "", "PX", "1000"))
        } catch {
            losses[identity] = .now
        }
    }

    // MARK: Changes by others

    package nonisolated func changes(of identity: String) -> AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            _ = Task(executorPreference: loop) { await self.add(continuation, for: identity) }
        }
    }

    private func add(_ continuation: AsyncStream<Void>.Continuation, for identity: String) {
        guard !isClosed else { return continuation.finish() }
        lastWatcher += 1
        let number = lastWatcher
        watchers[identity, default: [:]][number] = continuation
        continuation.onTermination = { [weak self, loop] _ in
            _ = Task(executorPreference: loop) { await self?.remove(number, for: identity) }
        }
        if subscription == nil {
            let subscription = RedisSubscription(settings, channel: channel, loop: loop) {
                [weak self, loop] news in
                _ = Task(executorPreference: loop) { await self?.heard(news) }
            }
            self.subscription = subscription
            _ = loop.startTask { await subscription.run() }
        }
        watch()
    }

    private func remove(_ number: Int, for identity: String) {
        watchers[identity]?[number] = nil
        if watchers[identity]?.isEmpty ?? false { watchers[identity] = nil }
    }

    private func heard(_ news: RedisSubscription.News) {
        switch news {
        case .began:
            reducedFeatures.remove(.subscribing)
            heard(of: nil)
        case .changed(let identity): heard(of: identity)
        case .forbidden(let error): tell(.subscribing, error)
        }
    }

    private func heard(of identity: String?) {
        for name in watchers.keys where identity == nil || identity == name { changed(name) }
    }

    func changed(_ identity: String) {
        for continuation in watchers[identity, default: [:]].values { continuation.yield() }
    }

    /// Looks every second, as long as somebody waits for changes or a lock is to be released.
    func watch() {
        guard !isWatching, !isClosed else { return }
        isWatching = true
        _ = loop.startTask { await self.keepLooking() }
    }

    private func keepLooking() async {
        var round = await link.round
        var wasAway = false
        while !isClosed, !watchers.isEmpty || !unreleased.isEmpty {
            await loop.pause(for: Self.lookPause)
            // A successful probe ends the outage, even if only reading works.
            if await link.isAway { _ = try? await probe(.reading) }
            if !unreleased.isEmpty { await releaseAgain() }
            for identity in watchers.keys.sorted() {
                await lookForChange(of: identity)
                await proveThatSignsCanBeGiven(of: identity)
            }
            let (present, isAway) = await (link.round, link.isAway)
            guard present != round || isAway != wasAway else { continue }
            // Watchers that look now find the error, or do what failed before.
            (round, wasAway) = (present, isAway)
            heard(of: nil)
        }
        isWatching = false
    }

    private func lookForChange(of identity: String) async {
        let command = RESPCommand("GETRANGE", recordKey(identity), "0", "\(RedisRecord.headBytes - 1)")
        let head: [UInt8]?
        do throws(RedisError) {
            let bytes = try await link.perform(command).bytes ?? []
            head = bytes.isEmpty ? nil : bytes
        } catch {
            guard case .refused(_, .wrongType) = error else { return }
            head = []
        }
        let known = seen.updateValue(head, forKey: identity)
        guard let known, known != head else { return }
        changed(identity)
    }

    // MARK: Names

    var channel: String { settings.keyPrefix + "changes" }
    func recordKey(_ identity: String) -> String { "\(settings.keyPrefix)session:\(identity)" }
    func lockKey(_ identity: String) -> String { "\(settings.keyPrefix)lock:\(identity)" }
    func markKey(_ identity: String) -> String { "\(settings.keyPrefix)spending:\(identity)" }
}
