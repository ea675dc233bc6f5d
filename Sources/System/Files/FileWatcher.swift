// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Reports when the content behind a name changes.
///
/// It looks twice a second (`stat`) instead of using inotify, so that it also notices what another host
/// writes to a shared volume, and a Kubernetes secret that changes because a link two directories up does.
package final class FileWatcher: Sendable {
    private struct Watch {
        /// Its state at the last look; nil before the first.
        var seen: FileState?
        /// The time of the last change to content, mode or owner at that look; nil if it was not looked at.
        var changed: Int64?
        var observers: [Int: AsyncStream<Void>.Continuation] = [:]
    }

    private struct State {
        var watches: [String: Watch] = [:]
        var nextObserver = 0
        var isTicking = false
        /// The number of the round of looks that goes on, or is the next.
        var round = 0
        /// The names at which a look has not come back, as where a network's file server is away.
        var looks: Set<String> = []
    }

    /// The most looks that do not come back until nothing is looked at: others need the executor's threads, too.
    private static let mostLooks = 8

    private let executor: any DelayingExecutor
    private let interval: Duration
    private let state = Mutex(State())

    /// - Parameters:
    ///   - executor: runs the looks.
    ///   - interval: the time between two looks.
    package init(on executor: any DelayingExecutor, every interval: Duration = .milliseconds(500)) {
        self.executor = executor
        self.interval = interval
    }

    deinit {
        for watch in state.withLock({ $0.watches.values }) {
            for observer in watch.observers.values { observer.finish() }
        }
    }

    /// Watches one name; its state after the executor's earlier jobs is the first to compare with.
    ///
    /// This does not block, even if the name's file system is slow or does not answer.
    ///
    /// - Parameters:
    ///   - path: links are followed; it need not exist.
    ///   - known: what to compare with instead: the file's state before the caller read it, so that no change
    ///     between the reading and the watch is lost.
    /// - Returns: one element each time `path` was replaced, written, created or removed; several changes may
    ///   become one.
    package func changes(of path: String, since known: FileState? = nil) -> AsyncStream<Void> {
        let (stream, observer) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (number, isToBeSeen, startsTicking) = state.withLock { state in
            state.nextObserver += 1
            var watch = state.watches[path] ?? Watch()
            watch.observers[state.nextObserver] = observer
            if let known { watch.seen = known }
            state.watches[path] = watch
            defer { state.isTicking = true }
            return (state.nextObserver, watch.observers.count == 1 || known != nil, !state.isTicking)
        }
        if isToBeSeen { Task(executorPreference: executor) { [weak self] in self?.look(at: path) } }
        observer.onTermination = { [weak self] _ in self?.forget(path, number) }
        if startsTicking { tickLater() }
        return stream
    }

    /// Suppresses the report of our own change of `path` to the content with this fingerprint.
    package func expect(_ fingerprint: FileFingerprint?, at path: String) {
        state.withLock {
            $0.watches[path]?.seen = FileState(fingerprint)
            $0.watches[path]?.changed = nil
        }
    }

    private func forget(_ path: String, _ observer: Int) {
        state.withLock { state in
            state.watches[path]?.observers[observer] = nil
            if state.watches[path]?.observers.isEmpty == true { state.watches[path] = nil }
        }
    }

    private func tickLater() {
        executor.after(interval) { [weak self] in self?.tick() }
    }

    private func tick() {
        let paths = state.withLock { state in
            state.isTicking = !state.watches.isEmpty
            return state.watches.keys
        }
        guard !paths.isEmpty else { return }
        let round = state.withLock(\.round)
        // A look may take for ever: then the next round begins without its end.
        executor.after(interval * 4) { [weak self] in
            if self?.ends(round) == true { self?.tick() }
        }
        for path in paths { look(at: path) }
        if ends(round) { tickLater() }
    }

    /// Returns true for the first who says that a round of looks is over.
    private func ends(_ round: Int) -> Bool {
        state.withLock { state in
            guard state.round == round else { return false }
            state.round += 1
            return true
        }
    }

    /// Reports a change since the previous look, if there was one and it has come back.
    private func look(at path: String) {
        let isFree = state.withLock { state in
            state.watches[path] != nil && state.looks.count < Self.mostLooks
                && state.looks.insert(path).inserted
        }
        guard isFree else { return }
        let status = try? FileSystem.status(of: path)
        let (fingerprint, changed) = (status?.fingerprint, status?.changedNanoseconds)
        let observers = state.withLock { state -> [AsyncStream<Void>.Continuation] in
            state.looks.remove(path)
            guard let watch = state.watches[path] else { return [] }
            // A file that was written and given its old time again, or whose mode was mended, has only this to tell it.
            let isTouched = watch.changed != nil && watch.changed != changed
            state.watches[path]?.changed = changed
            guard watch.seen != FileState(fingerprint) || isTouched else { return [] }
            state.watches[path]?.seen = FileState(fingerprint)
            return watch.seen == nil ? [] : Array(watch.observers.values)
        }
        for observer in observers { observer.yield() }
    }
}
