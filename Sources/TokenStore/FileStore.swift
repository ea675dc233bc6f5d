// SPDX-License-Identifier: Apache-2.0

import Confinement
package import OAuth
package import System

/// Sessions in files of a directory that is ours alone, shared by all processes of one user.
///
/// Runs on a thread of its own, because every call blocks. A session is whole at every moment: a change is
/// written beside the file, brought to the disk, and renamed over it; the generation before keeps a second
/// name.
package actor FileStore: SessionStore, ExecutorConfined {
    /// Larger than any session; a longer file is damaged.
    static let maximumBytes = 1 << 22
    /// How long a change waits for the lock if its caller does not hold it.
    private static let lockLimit: Duration = .seconds(10)

    package nonisolated let executor: any SerialExecutor
    /// Where the files are; not always the configured directory.
    package nonisolated let directory: String
    private nonisolated let watcher: FileWatcher
    private let place: StorePlace
    private var mark: EncryptionMark
    private let thread: ThreadExecutor
    private let sealer: any Sealer
    private let onDamage: @Sendable (DamagedEntry) -> Void
    private var holders: [String: WeakHolder] = [:]

    private struct WeakHolder {
        weak var lock: FileStoreLock?
    }

    /// What a file turned out to be.
    private enum Entry {
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

        var isLater: Bool {
            if case .later = self { true } else { false }
        }

        var isUnencrypted: Bool {
            if case .unencrypted = self { true } else { false }
        }
    }

    private static let laterProblem =
        "was written by a later version of bearerd, and is left as it is: run that version, or move the file away and "
        + "log in"

    /// Opens a store, making its directory if need be; blocks for a moment.
    ///
    /// - Parameters:
    ///   - directory: as configured; if it exists and is not ours with mode 0700, `bearerd` in it is used.
    ///   - thread: does the work; must outlive the store.
    ///   - sealer: stands between a session and the disk.
    ///   - onDamage: hears, on `thread`, of every damaged file.
    /// - Throws: ``FileStoreError``.
    package init(
        directory: String, on thread: ThreadExecutor, sealer: any Sealer = PlainSealer(),
        onDamage: @escaping @Sendable (DamagedEntry) -> Void = { _ in }
    ) throws(FileStoreError) {
        self.directory = try StoreDirectory.prepare(directory, sealer: sealer)
        place = StorePlace(self.directory)
        mark = EncryptionMark(in: self.directory, sealer: sealer)
        try mark.checkFiles()
        self.thread = thread
        self.sealer = sealer
        self.onDamage = onDamage
        executor = thread
        watcher = FileWatcher(on: thread)
    }

    /// Makes the directory that a store would use, for who wants to know it first; blocks for a moment.
    ///
    /// - Parameter directory: as configured.
    /// - Returns: its path, not always the configured one.
    /// - Throws: ``FileStoreError``.
    package static func makeDirectory(_ directory: String) throws(FileStoreError) -> String {
        try StoreDirectory.make(directory)
    }

    /// Reads the newest whole generation; a damaged file is put aside and reported, an unencrypted one encrypted.
    package func load(_ identity: String) throws(StoreError) -> StoredSession? {
        try place.check()
        let paths = paths(of: identity)
        let current = try read(paths.current, identity)
        let older = current.session == nil ? try read(paths.previous, identity) : .missing
        for (path, entry) in [(paths.current, current), (paths.previous, older)] {
            if entry.isLater { throw .unavailable("\(path) \(Self.laterProblem)") }
            if entry.isUnencrypted, !mark.mayBePlain {
                throw .unavailable("\(path) \(EncryptionMark.problem)")
            }
        }
        let previous = older.session
        switch current {
        case .missing, .whole, .later: break
        case .unencrypted: encrypt(paths, identity)
        case .foreign where previous == nil:
            throw .unavailable("\(paths.current) \(sealer.foreignProblem)")
        case .foreign, .damaged:
            // The generation before opens with our key: then it is the name of the other key that is damaged.
            let report = DamagedEntry(
                identity: identity, path: paths.current, keptAs: putAside(paths, identity),
                hasPrevious: previous != nil)
            onDamage(report)
        }
        return current.session ?? previous
    }

    package func save(
        _ session: StoredSession, keepingPrevious keepsPrevious: Bool
    ) async throws(StoreError) {
        let lock = try await lockUnlessHeld(session.identity)
        defer { lock?.release() }
        let paths = paths(of: session.identity)
        let bytes = sealer.seal(session.encoded(), for: session.identity)
        switch try read(paths.current, session.identity) {
        case .foreign: throw .unavailable("\(paths.current) \(sealer.foreignProblem)")
        case .later: throw .unavailable("\(paths.current) \(Self.laterProblem)")
        case .missing, .damaged, .whole, .unencrypted: break
        }
        do {
            let hasPrevious = try FileSystem.status(of: paths.previous, followingLink: false) != nil
            let written = try FileReplacement.replace(
                paths.current, with: bytes,
                keepingPreviousAs: keepsPrevious || !hasPrevious ? paths.previous : nil)
            watcher.expect(written, at: paths.current)
            mark.sessionWritten()
            // Who has taken the tokens back does not want them in the generation before.
            if !session.holdsTokens { try FileSystem.remove(paths.previous) }
        } catch {
            throw place.failure(error)
        }
    }

    package func remove(_ identity: String) async throws(StoreError) {
        let lock = try await lockUnlessHeld(identity)
        defer { lock?.release() }
        let paths = paths(of: identity)
        do {
            // This order, or a crash in between would bring the older generation back.
            try FileSystem.remove(paths.previous)
            try FileSystem.remove(paths.current)
            try FileSystem.synchronize(directory: directory)
            watcher.expect(nil, at: paths.current)
        } catch {
            throw place.failure(error)
        }
    }

    package func lock(
        _ identity: String, waitingAtMost limit: Duration
    ) async throws(StoreError) -> any StoreLock {
        try await waitForLock(identity, limit)
    }

    package nonisolated func changes(of identity: String) -> AsyncStream<Void> {
        watcher.changes(of: StorePaths(of: identity, in: directory).current)
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
                throw .busy(by: FileLockHolder.of(paths(of: identity).lock)?.description)
            }
            // flock has no way to wait that leaves the thread free for other identities.
            await thread.sleep(for: min(pause, left))
            pause = min(pause * 2, .milliseconds(50))
        }
    }

    private func tryLock(_ identity: String) throws(StoreError) -> FileStoreLock? {
        try place.check()
        do {
            guard let file = try FileLock.acquire(paths(of: identity).lock) else { return nil }
            let lock = FileStoreLock(file)
            holders[identity] = WeakHolder(lock: lock)
            return lock
        } catch {
            throw place.failure(error)
        }
    }

    private func isHeld(_ identity: String) -> Bool {
        holders[identity]?.lock?.isHeld == true
    }

    /// Takes the lock for one change by a caller who does not hold it.
    private func lockUnlessHeld(_ identity: String) async throws(StoreError) -> FileStoreLock? {
        isHeld(identity) ? nil : try await waitForLock(identity, FileStore.lockLimit)
    }

    // MARK: - Files

    private func paths(of identity: String) -> StorePaths {
        StorePaths(of: identity, in: directory)
    }

    private func read(_ path: String, _ identity: String) throws(StoreError) -> Entry {
        let (bytes, status): ([UInt8], FileStatus)
        do {
            (bytes, status) = try FileSystem.read(path, limit: FileStore.maximumBytes, followingLink: false)
        } catch {
            if error.isMissing { return .missing }
            if error.isTooLarge { return .damaged }
            throw place.failure(error)
        }
        if let problem = StoreDirectory.problem(withFile: status) { throw .unavailable("\(path) \(problem)") }
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
    private func encrypt(_ paths: StorePaths, _ identity: String) {
        let lock = isHeld(identity) ? nil : (try? tryLock(identity)) ?? nil
        defer { lock?.release() }
        guard isHeld(identity) else { return }
        for path in [paths.previous, paths.current] {
            guard case .unencrypted(let session)? = try? read(path, identity) else { continue }
            let bytes = sealer.seal(session.encoded(), for: identity)
            guard let written = try? FileReplacement.replace(path, with: bytes) else { return }
            if path == paths.current { watcher.expect(written, at: path) }
        }
        mark.sessionWritten()
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
            watcher.expect(nil, at: paths.current)
            return kept
        } catch {
            return nil
        }
    }
}
