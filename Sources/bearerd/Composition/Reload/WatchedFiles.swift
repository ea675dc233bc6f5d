// SPDX-License-Identifier: Apache-2.0

import BearerdSystem
import Synchronization

/// One watcher for all files, and threads for them, that are read again when they change.
final class WatchedFiles: Sendable {
    /// The purposes for which files are watched.
    enum Purpose: Hashable {
        case configuration
        case certificate
        case accessKey
        case adminKey
        case identities
        case upstreams
    }

    /// Looks at files and reads them, so that no loop has to.
    let executor: FileExecutor
    private let watcher: FileWatcher
    private let tasks = Mutex<[Purpose: [Task<Void, Never>]]>([:])
    /// The states of the files before they were read last.
    private let unread = Mutex<[String: FileState]>([:])

    /// The preparations of reloads that have not come back.
    private let preparations = Mutex(0)
    private static let mostPreparations = 8

    init(on executor: FileExecutor) {
        self.executor = executor
        watcher = FileWatcher(on: executor)
    }

    /// Remembers what these files are before they are read; blocks while it looks.
    ///
    /// A watch that begins later tells of what changed in between.
    func remember(_ files: [String]) {
        for file in files { remember(file, as: Self.state(beforeReading: file)) }
    }

    /// Remembers what a file was before it was read.
    ///
    /// - Parameter known: its ``state(beforeReading:)``.
    func remember(_ file: String, as known: FileState?) { unread.withLock { $0[file] = known } }

    /// The state of a file; nil for a pipe, which changes by being read.
    static func state(beforeReading file: String) -> FileState? {
        guard let status = try? FileSystem.status(of: file) else { return .absent }
        return status.kind == .regular ? .present(status.fingerprint) : nil
    }

    /// Counts a preparation of a reload; false if too many have not come back.
    func beginPreparation() -> Bool {
        preparations.withLock { count in
            guard count < Self.mostPreparations else { return false }
            count += 1
            return true
        }
    }

    func endPreparation() { preparations.withLock { $0 -= 1 } }

    /// Calls `changed` on ``executor`` when a file has changed, until the next call for the same purpose.
    ///
    /// A change since ``remember(_:)`` counts, too.
    func watch(
        _ files: [String], for purpose: Purpose, _ changed: @escaping @Sendable (_ file: String) async -> Void
    ) {
        watch(purpose, [(files, changed)])
    }

    /// Watches the files of these identities instead of the previous ones.
    func watchIdentities(_ watches: [CredentialWatch]) {
        watch(.identities, watches.map { watch in (watch.files, { await watch.changed($0) }) })
    }

    private func watch(
        _ purpose: Purpose, _ wanted: [(files: [String], changed: @Sendable (String) async -> Void)]
    ) {
        var begun: [Task<Void, Never>] = []
        for (files, changed) in wanted {
            for file in files {
                let changes = watcher.changes(of: file, since: unread.withLock { $0[file] })
                begun.append(
                    Task(executorPreference: executor) { for await _ in changes { await changed(file) } })
            }
        }
        // After the others have begun: what changes meanwhile is noticed all the same.
        let ended = tasks.withLock { tasks in
            defer { tasks[purpose] = begun }
            return tasks[purpose] ?? []
        }
        for task in ended { task.cancel() }
    }
}
