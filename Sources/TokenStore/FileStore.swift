// SPDX-License-Identifier: Apache-2.0

import BearerdExecutorConfinement
package import BearerdSystem
package import OAuth

/// Sessions in files of a private directory, shared by all processes of one user.
///
/// Runs on its own thread, because every call blocks. A session is never half written: a change is written to a new
/// file, synced, and renamed over the old one; the previous generation keeps a second name. The directory is held
/// open: if nothing usable is at its path any more, the processes that have it open go on sharing it.
package actor FileStore: SessionStore, ExecutorConfined {
    /// More bytes than any session has, which bounds itself, sealed or not; a longer file is damaged.
    static let maximumBytes = 7 << 20

    package nonisolated let executor: any SerialExecutor
    /// The directory in use, which is not always the configured one.
    package nonisolated let directory: String
    private nonisolated let watcher: FileWatcher
    private let thread: ThreadExecutor
    private let onDamage: @Sendable (DamagedEntry) -> Void
    private let isExamined: Bool
    /// The lock that was last taken on each identity.
    private var holders: [String: FileStoreLock] = [:]

    let sealer: any Sealer
    let place: StorePlace
    /// The directory at the time of opening.
    let first: StoreHome
    /// The directories of identities that have followed the path to another one.
    var homes: [String: StoreHome] = [:]
    /// The reasons why identities are not where the path leads.
    var misplacements: [String: StoreError] = [:]

    /// The content of a file.
    enum Entry {
        case missing
        case damaged
        /// Encrypted with another key than ours.
        case foreign
        /// Written by a later version of this program.
        case later
        case whole(StoredSession)
        /// Valid, but unencrypted though there is a key: it is older than the key.
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

    /// Opens a store, and makes its directory if necessary; blocks.
    ///
    /// - Parameters:
    ///   - directory: as configured; if it exists and is not ours with mode 0700, `bearerd` in it is used.
    ///   - thread: does the work; must outlive the store.
    ///   - isExamined: true if neither opening nor loading may change a file.
    ///   - onDamage: hears, on `thread`, of every damaged file.
    package init(
        directory: String, on thread: ThreadExecutor,
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
        self.watcher = FileWatcher(on: thread)
    }

    /// Reads the newest valid generation; a damaged file is put aside and reported, a plain one encrypted, and under the lock
    /// the save finished that a kill has interrupted.
    package func load(_ identity: String) throws(StoreError) -> StoredSession? {
        let home = try homeState(of: identity).home
        let paths = home.paths(of: identity)
        if isHeld(identity) { finishSave(in: home, identity) }
        let current = try read(paths.current, identity)
        let older = current.session == nil ? try read(paths.previous, identity) : .missing
        for (place, entry) in [(paths.current, current), (paths.previous, older)] where !entry.isForeign {
            if let refusal = refusal(of: entry, at: place, in: home) { throw refusal }
        }
        var previous = older.session
        // What came after it is not there any more, and may have had the refresh token that took the place of this one.
        previous?.doubt()
        switch current {
        case .missing, .whole, .later: break
        case .unencrypted: if !isExamined { encrypt(home, identity) }
        case .foreign where previous == nil:
            throw .refused("\(paths.current.path) \(sealer.foreignProblem)")
        case .foreign, .damaged:
            // The previous generation opens with our key, so the key's name in the file must be damaged.
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
        // A process that looks for a claim holds it for an instant.
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
                let place = home(of: identity).paths(of: identity).lock
                throw .busy(
                    by: isHeld(identity) ? StoreError.thisProcess : FileLockHolder.of(place)?.description)
            }
            // flock has no way to wait that leaves the thread free for other identities.
            await thread.sleep(for: min(pause, left))
            pause = min(pause * 2, .milliseconds(50))
        }
    }

    private func tryLock(_ identity: String) throws(StoreError) -> FileStoreLock? {
        guard case .settled(let home) = try homeState(of: identity), !isHeld(identity) else { return nil }
        let lock: FileStoreLock?
        if home.directory.isRemoved {
            // Nobody can lock a file there, but a process that is alone needs no lock.
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

    func isHeld(_ identity: String) -> Bool { holders[identity]?.isHeld == true }

    // MARK: - Files

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
            // Tokens that were removed must not stay in the previous generation.
            if !session.holdsTokens { try FileSystem.remove(paths.previous) }
        } catch {
            // Tokens are removed on a full disk too.
            guard !session.holdsTokens, replaced.session?.holdsTokens ?? true,
                hasOverwritten(session, in: home)
            else { throw failure(error, of: session.identity) }
        }
        lock.saved()
    }

    /// Writes a session without tokens over the newest generation where that stands and is no shorter, and removes the one
    /// before: neither needs room.
    ///
    /// A crash in between leaves a file that is damaged, and with it no token either.
    private func hasOverwritten(_ session: StoredSession, in home: StoreHome) -> Bool {
        let paths = home.paths(of: session.identity)
        do throws(SystemError) {
            guard let present = try FileSystem.status(of: paths.current, followingLink: false) else {
                return false
            }
            var text = session.encoded()
            let missing = Int(present.size) - sealer.seal(text, for: session.identity).count
            guard missing >= 0 else { return false }
            try FileSystem.remove(paths.previous)
            // Of the same length, so that one write is all that readers can see of it.
            text += [UInt8](repeating: UInt8(ascii: " "), count: missing)
            let written = try FileReplacement.overwrite(
                paths.current, with: sealer.seal(text, for: session.identity))
            expect(written, of: session.identity)
            home.mark.sessionWritten()
            return true
        } catch {
            return false
        }
    }

    /// Notes that the refresh token of `session` is about to be sent.
    func spend(_ session: StoredSession, with lock: FileStoreLock) throws(StoreError) {
        guard lock.isHeld else { throw .leaseLost }
        lock.spend(session.generation)
    }

    /// Writes the newest generation.
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

    /// Keeps our own change from being reported; there is no watch where the path leads elsewhere.
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

    /// Encrypts files that are older than the key, the newest last; a failure is tried again at the next look.
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

    /// Gives a whole newer session its name that a process was killed before it could: the provider may have replaced the
    /// refresh token of the present one.
    ///
    /// Whoever has the lock is alone with that file, and each write begins with its removal.
    private func finishSave(in home: StoreHome, _ identity: String) {
        let paths = home.paths(of: identity)
        guard
            case .whole(let session)? = try? read(FileReplacement.unfinished(paths.current), identity),
            case .whole(let present)? = try? read(paths.current, identity),
            session.generation > present.generation
        else { return }
        let hasPrevious = (try? FileSystem.status(of: paths.previous, followingLink: false)) ?? nil != nil
        guard
            let written = try? FileReplacement.finish(
                paths.current, keepingPreviousAs: hasPrevious ? nil : paths.previous)
        else { return }
        if !session.holdsTokens { try? FileSystem.remove(paths.previous) }
        expect(written, of: identity)
        home.mark.sessionWritten()
    }

    /// Renames a damaged file, unless somebody may be replacing it.
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
