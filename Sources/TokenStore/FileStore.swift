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
    private static let maximumBytes = 1 << 22
    /// How long a change waits for the lock if its caller does not hold it.
    private static let lockLimit: Duration = .seconds(10)

    package nonisolated let executor: any SerialExecutor
    /// Where the files are; not always the configured directory.
    package nonisolated let directory: String
    private nonisolated let watcher: FileWatcher
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
        case whole(StoredSession)
    }

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
        self.directory = try StoreDirectory.prepare(directory)
        self.thread = thread
        self.sealer = sealer
        self.onDamage = onDamage
        executor = thread
        watcher = FileWatcher(on: thread)
    }

    /// Reads the newest whole generation; a damaged file is put aside and reported.
    package func load(_ identity: String) throws(StoreError) -> StoredSession? {
        let paths = paths(of: identity)
        let current = try read(paths.current, identity)
        if case .whole(let session) = current { return session }
        let previous: StoredSession? =
            if case .whole(let session) = try read(paths.previous, identity) { session } else { nil }
        if case .damaged = current {
            let report = DamagedEntry(
                identity: identity, path: paths.current, keptAs: putAside(paths, identity),
                hasPrevious: previous != nil)
            onDamage(report)
        }
        return previous
    }

    package func save(_ session: StoredSession) async throws(StoreError) {
        let lock = try await lockUnlessHeld(session.identity)
        defer { lock?.release() }
        let paths = paths(of: session.identity)
        let bytes = sealer.seal(session.encoded(), for: session.identity)
        do {
            let written = try FileReplacement.replace(
                paths.current, with: bytes, keepingPreviousAs: paths.previous)
            watcher.expect(written, at: paths.current)
        } catch {
            throw StoreError(error)
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
            throw StoreError(error)
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
            guard left > .zero else { throw .busy }
            // flock has no way to wait that leaves the thread free for other identities.
            await thread.sleep(for: min(pause, left))
            pause = min(pause * 2, .milliseconds(50))
        }
    }

    private func tryLock(_ identity: String) throws(StoreError) -> FileStoreLock? {
        do {
            guard let file = try FileLock.acquire(paths(of: identity).lock) else { return nil }
            let lock = FileStoreLock(file)
            holders[identity] = WeakHolder(lock: lock)
            return lock
        } catch {
            throw StoreError(error)
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
            throw StoreError(error)
        }
        if let problem = StoreDirectory.problem(withFile: status) { throw .unavailable("\(path) \(problem)") }
        guard let plaintext = sealer.open(bytes, for: identity),
            let session = StoredSession(decoding: plaintext),
            session.identity == identity
        else { return .damaged }
        return .whole(session)
    }

    /// Gives a damaged file another name, if nobody can be replacing it at this moment.
    private func putAside(_ paths: StorePaths, _ identity: String) -> String? {
        let lock = isHeld(identity) ? nil : (try? tryLock(identity)) ?? nil
        defer { lock?.release() }
        guard isHeld(identity), case .damaged? = try? read(paths.current, identity) else { return nil }
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

extension StoreError {
    fileprivate init(_ error: SystemError) {
        self = .unavailable("\(error)")
    }
}
