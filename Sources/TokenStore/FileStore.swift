// SPDX-License-Identifier: Apache-2.0

import ExecutorConfinement
package import OAuth
package import System

/// Sessions in files of a directory that is ours alone, shared by all processes of one user.
///
/// Runs on a thread of its own, because every call blocks. A session is whole at every moment: a change is
/// written beside the file, brought to the disk, and renamed over it; the generation before keeps a second
/// name. The directory is held open: where its path leads to nothing that can be used, the processes that have it go on
/// sharing it.
package actor FileStore: SessionStore, ExecutorConfined {
    /// Larger than any session; a longer file is damaged.
    static let maximumBytes = 1 << 22

    package nonisolated let executor: any SerialExecutor
    /// Where the files are; not always the configured directory.
    package nonisolated let directory: String
    private nonisolated let watcher: FileWatcher
    private let thread: ThreadExecutor
    private let onDamage: @Sendable (DamagedEntry) -> Void
    private let isExamined: Bool
    /// The last lock that was taken on each identity.
    private var holders: [String: FileStoreLock] = [:]

    let sealer: any Sealer
    let place: StorePlace
    /// The directory that was there when the store was opened.
    let first: StoreHome
    /// Where an identity is that has followed the path to another directory.
    var homes: [String: StoreHome] = [:]
    /// Why an identity is not where its path leads to.
    var misplacements: [String: StoreError] = [:]

    /// What a file turned out to be.
    enum Entry {
        case missing
        case damaged
        /// Encrypted with a key that is not ours.
        case foreign
        /// Written by a later version of this program.
        case later
        case whole(StoredSession)
        /// Whole, but unencrypted though there is a key: from before there was one.
        case unencrypted(StoredSession)

        var session: StoredSession? {
            switch self {
            case .whole(let session), .unencrypted(let session): session
            case .missing, .damaged, .foreign, .later: nil
            }
        }

        var isForeign: Bool {
            if case .foreign = self { true } else { false }
        }
    }

    /// Opens a store, making its directory if need be; blocks for a moment.
    ///
    /// - Parameters:
    ///   - directory: as configured; if it exists and is not ours with mode 0700, `bearerd` in it is used.
    ///   - thread: does the work; must outlive the store.
    ///   - watcher: on that thread; nil for one of its own.
    ///   - sealer: stands between a session and the disk.
    ///   - isExamined: whether what is there is only looked at: neither opening nor loading changes a file then.
    ///   - onDamage: hears, on `thread`, of every damaged file.
    /// - Throws: ``FileStoreError``.
    package init(
        directory: String, on thread: ThreadExecutor, watcher: FileWatcher? = nil,
        sealer: any Sealer = PlainSealer(), isExamined: Bool = false,
        onDamage: @escaping @Sendable (DamagedEntry) -> Void = { _ in }
    ) throws(FileStoreError) {
        self.directory = try StoreDirectory.prepare(directory, sealer: sealer)
        place = StorePlace(path: self.directory)
        do throws(SystemError) {
            first = StoreHome(try OpenDirectory(self.directory), sealer: sealer)
        } catch {
            throw .unusable(error)
        }
        try first.mark.checkFiles(isExamined: isExamined)
        self.thread = thread
        self.sealer = sealer
        self.isExamined = isExamined
        self.onDamage = onDamage
        executor = thread
        self.watcher = watcher ?? FileWatcher(on: thread)
    }

    /// Makes the directory that a store would use, for who wants to know it first; blocks for a moment.
    ///
    /// - Parameter directory: as configured.
    /// - Returns: its path, not always the configured one.
    /// - Throws: ``FileStoreError``.
    package static func makeDirectory(_ directory: String) throws(FileStoreError) -> String {
        try StoreDirectory.make(directory)
    }

    /// Whether a directory holds sessions that are encrypted, with whatever key; it is only looked at.
    ///
    /// - Parameter directory: as configured.
    package static func holdsEncrypted(_ directory: String) -> Bool {
        StoreDirectory.holdsEncrypted(directory)
    }

    /// Whether there is a directory of ours already, which opening the store would make.
    ///
    /// - Parameter directory: as configured.
    /// - Throws: ``FileStoreError``.
    package static func exists(_ directory: String) throws(FileStoreError) -> Bool {
        try StoreDirectory.exists(directory)
    }

    /// Finds out whether sessions could be locked and written in a directory; nothing of the attempt stays.
    ///
    /// - Parameter directory: as configured.
    /// - Throws: ``FileStoreError``, also where sessions lie in a directory that is not used, because others may look
    ///   into it by now, and there is none yet in its place.
    package static func examine(_ directory: String) throws(FileStoreError) -> StoreExamination {
        try StoreDirectory.examine(directory)
    }

    /// Reads the newest whole generation; a damaged file is put aside and reported, an unencrypted one encrypted.
    package func load(_ identity: String) throws(StoreError) -> StoredSession? {
        let home = try standing(of: identity).home
        let paths = home.paths(of: identity)
        let current = try read(paths.current, identity)
        let older = current.session == nil ? try read(paths.previous, identity) : .missing
        for (place, entry) in [(paths.current, current), (paths.previous, older)] where !entry.isForeign {
            if let refusal = refusal(of: entry, at: place, in: home) { throw refusal }
        }
        let previous = older.session
        switch current {
        case .missing, .whole, .later: break
        case .unencrypted: if !isExamined { encrypt(home, identity) }
        case .foreign where previous == nil:
            throw .refused("\(paths.current.path) \(sealer.foreignProblem)")
        case .foreign, .damaged:
            // The generation before opens with our key: then it is the name of the other key that is damaged.
            let report = DamagedEntry(
                identity: identity, path: paths.current.path,
                keptAs: isExamined ? nil : putAside(paths, identity),
                hasPrevious: previous != nil)
            onDamage(report)
        }
        return current.session ?? previous
    }

    package func misplacement(of identity: String) -> StoreError? { misplacements[identity] }

    package func hasMoved(_ identity: String) -> Bool {
        if case .other = place.look(from: home(of: identity).directory) { true } else { false }
    }

    package func lock(
        _ identity: String, waitingAtMost limit: Duration
    ) async throws(StoreError) -> any StoreLease {
        FileStoreLease(store: self, identity: identity, lock: try await waitForLock(identity, limit))
    }

    func release(_ lock: FileStoreLock) { lock.release() }

    package func claim(_ identity: String) async -> (any Sendable)? {
        // Whoever looks for a claim may hold it for an instant.
        for _ in 0..<3 {
            if let claim = try? take(home(of: identity).paths(of: identity).claim) { return claim }
            await thread.sleep(for: .milliseconds(2))
        }
        return nil
    }

    func isClaimed(_ identity: String) -> Bool {
        let place = home(of: identity).paths(of: identity).claim
        guard (try? FileSystem.status(of: place, followingLink: false)) ?? nil != nil else { return false }
        do throws(SystemError) {
            return try take(place) == nil
        } catch {
            return false
        }
    }

    package nonisolated func changes(of identity: String) -> AsyncStream<Void> {
        watcher.changes(of: watchedPath(of: identity))
    }

    // MARK: - Locks

    private func waitForLock(_ identity: String, _ limit: Duration) async throws(StoreError) -> FileStoreLock
    {
        let deadline = ContinuousClock.now + limit
        var pause: Duration = .milliseconds(2)
        while true {
            if let lock = try tryLock(identity) { return lock }
            let left = deadline - .now
            guard left > .zero, !Task.isCancelled else {
                throw .busy(by: FileLockHolder.of(home(of: identity).paths(of: identity).lock)?.description)
            }
            // flock has no way to wait that leaves the thread free for other identities.
            await thread.sleep(for: min(pause, left))
            pause = min(pause * 2, .milliseconds(50))
        }
    }

    private func tryLock(_ identity: String) throws(StoreError) -> FileStoreLock? {
        guard case .settled(let home) = try standing(of: identity), !isHeld(identity) else { return nil }
        let lock: FileStoreLock?
        if home.directory.isRemoved {
            // Nobody can lock anything there; but who has it alone needs no lock.
            guard home.directory.keepAlone() else { throw misplacements[identity] ?? place.gone }
            lock = FileStoreLock(nil)
        } else {
            do throws(SystemError) {
                lock = try take(home.paths(of: identity).lock)
            } catch {
                throw failure(error, of: identity)
            }
        }
        if let lock { holders[identity] = lock }
        return lock
    }

    /// - Returns: nil if somebody else has it.
    func take(_ place: FilePlace) throws(SystemError) -> FileStoreLock? {
        guard let file = try FileLock.acquire(place) else { return nil }
        return FileStoreLock(file)
    }

    func isHeld(_ identity: String) -> Bool {
        holders[identity]?.isHeld == true
    }

    // MARK: - Files

    /// Replaces what `read` was read from.
    ///
    /// - Parameter lock: the identity's.
    func save(
        _ session: StoredSession, over read: StoredSession?, keepingPrevious keepsPrevious: Bool,
        with lock: FileStoreLock
    ) throws(StoreError) {
        guard lock.isHeld else { throw .leaseLost }
        let home = home(of: session.identity)
        let paths = home.paths(of: session.identity)
        let replaced = try self.read(paths.current, session.identity)
        if let refusal = refusal(of: replaced, at: paths.current, in: home) { throw refusal }
        try session.checkReplacing(replaced.session, read: read)
        do throws(SystemError) {
            let hasPrevious = try FileSystem.status(of: paths.previous, followingLink: false) != nil
            try write(session, to: home, keepingPrevious: keepsPrevious || !hasPrevious)
            // Who has taken the tokens back does not want them in the generation before.
            if !session.holdsTokens { try FileSystem.remove(paths.previous) }
        } catch {
            throw failure(error, of: session.identity)
        }
    }

    /// Notes that the refresh token of `session` is about to be sent.
    func spend(_ session: StoredSession, with lock: FileStoreLock) throws(StoreError) {
        guard lock.isHeld else { throw .leaseLost }
        lock.spend(session.generation)
    }

    /// Writes what is to be the newest generation.
    func write(
        _ session: StoredSession, to home: StoreHome, keepingPrevious keepsPrevious: Bool
    ) throws(SystemError) {
        let paths = home.paths(of: session.identity)
        let written = try FileReplacement.replace(
            paths.current, with: sealer.seal(session.encoded(), for: session.identity),
            keepingPreviousAs: keepsPrevious ? paths.previous : nil)
        expect(written, of: session.identity)
        home.mark.sessionWritten()
    }

    /// A change of ours is no news; where the path leads elsewhere it is not seen.
    private func expect(_ fingerprint: FileFingerprint?, of identity: String) {
        guard misplacements[identity] == nil else { return }
        watcher.expect(fingerprint, at: watchedPath(of: identity))
    }

    private nonisolated func watchedPath(of identity: String) -> String {
        "\(directory)/\(StorePaths.name(of: identity))"
    }

    func read(_ place: FilePlace, _ identity: String) throws(StoreError) -> Entry {
        let (bytes, status): ([UInt8], FileStatus)
        do throws(SystemError) {
            (bytes, status) = try FileSystem.read(place, limit: FileStore.maximumBytes, followingLink: false)
        } catch {
            if error.isMissing { return .missing }
            if error.isTooLarge { return .damaged }
            throw failure(error, of: identity)
        }
        if let problem = StoreDirectory.problem(withFile: status) {
            throw .refused("\(place.path) \(problem)")
        }
        if SealedHeader.isOfLaterLayout(bytes) { return .later }
        func entry(_ plaintext: [UInt8], _ whole: (StoredSession) -> Entry) -> Entry {
            if let session = StoredSession(decoding: plaintext), session.identity == identity {
                return whole(session)
            }
            return StoredSession.isOfLaterLayout(plaintext) ? .later : .damaged
        }
        switch sealer.open(bytes, for: identity) {
        case .plaintext(let plaintext): return entry(plaintext, Entry.whole)
        case .unencrypted(let plaintext): return entry(plaintext, Entry.unencrypted)
        case .damaged: return .damaged
        case .foreign: return .foreign
        }
    }

    /// Encrypts files from before there was a key, the newest last; what fails is tried again at the next look.
    private func encrypt(_ home: StoreHome, _ identity: String) {
        let lock = isHeld(identity) ? nil : (try? tryLock(identity)) ?? nil
        defer { lock?.release() }
        guard isHeld(identity) else { return }
        let paths = home.paths(of: identity)
        for (place, isNewest) in [(paths.previous, false), (paths.current, true)] {
            guard case .unencrypted(let session)? = try? read(place, identity) else { continue }
            let bytes = sealer.seal(session.encoded(), for: identity)
            guard let written = try? FileReplacement.replace(place, with: bytes) else { return }
            if isNewest { expect(written, of: identity) }
        }
        home.mark.sessionWritten()
    }

    /// Gives a damaged file another name, if nobody can be replacing it at this moment.
    private func putAside(_ paths: StorePaths, _ identity: String) -> String? {
        let lock = isHeld(identity) ? nil : (try? tryLock(identity)) ?? nil
        defer { lock?.release() }
        guard isHeld(identity) else { return nil }
        switch try? read(paths.current, identity) {
        case .damaged?, .foreign?: break
        case .missing?, .whole?, .unencrypted?, .later?, nil: return nil
        }
        let now = WallClock.sinceEpoch.components
        let kept = paths.damaged(
            atMilliseconds: now.seconds * 1000 + now.attoseconds / 1_000_000_000_000_000)
        do {
            try FileSystem.rename(paths.current, to: kept)
            expect(nil, of: identity)
            return kept.path
        } catch {
            return nil
        }
    }
}
