// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Tells when other content stands behind a name.
///
/// It looks twice a second (`stat`) rather than use inotify: that sees what another host wrote to a shared
/// volume, and a Kubernetes secret whose content changes because a link two directories up does.
package final class FileWatcher: Sendable {
    private struct Watch {
        /// What the name stood for when somebody looked last, nothing perhaps; nil before the first look.
        var seen: FileFingerprint??
        var observers: [Int: AsyncStream<Void>.Continuation] = [:]
    }

    private struct State {
        var watches: [String: Watch] = [:]
        var nextObserver = 0
        var isTicking = false
    }

    private let thread: ThreadExecutor
    private let interval: Duration
    private let state = Mutex(State())

    /// - Parameters:
    ///   - thread: does the looking.
    ///   - interval: between two looks.
    package init(on thread: ThreadExecutor, every interval: Duration = .milliseconds(500)) {
        self.thread = thread
        self.interval = interval
    }

    deinit {
        for watch in state.withLock({ $0.watches.values }) {
            for observer in watch.observers.values { observer.finish() }
        }
    }

    /// Watches one name, from what it stands for when the thread has done what it has been given before.
    ///
    /// Nothing blocks here: where the name leads may answer late, or never.
    ///
    /// - Parameter path: looked at through links; need not exist.
    /// - Returns: one element each time `path` was replaced, written, made or removed, several changes
    ///   perhaps as one.
    package func changes(of path: String) -> AsyncStream<Void> {
        let (stream, observer) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (number, isFirst, startsTicking) = state.withLock { state in
            state.nextObserver += 1
            let isFirst = state.watches[path] == nil
            state.watches[path, default: Watch()].observers[state.nextObserver] = observer
            defer { state.isTicking = true }
            return (state.nextObserver, isFirst, !state.isTicking)
        }
        if isFirst { Task(executorPreference: thread) { [weak self] in self?.look(at: path) } }
        observer.onTermination = { [weak self] _ in self?.forget(path, number) }
        if startsTicking { tickLater() }
        return stream
    }

    /// Says that the change of `path` to what `fingerprint` stands for was our own, and no news.
    package func expect(_ fingerprint: FileFingerprint?, at path: String) {
        state.withLock { $0.watches[path]?.seen = .some(fingerprint) }
    }

    private func forget(_ path: String, _ observer: Int) {
        state.withLock { state in
            state.watches[path]?.observers[observer] = nil
            if state.watches[path]?.observers.isEmpty == true { state.watches[path] = nil }
        }
    }

    private func tickLater() {
        thread.after(interval) { [weak self] in self?.tick() }
    }

    private func tick() {
        let paths = state.withLock { state in
            state.isTicking = !state.watches.isEmpty
            return state.watches.keys
        }
        guard !paths.isEmpty else { return }
        for path in paths { look(at: path) }
        tickLater()
    }

    /// Tells of what has changed since the last look, if there was one.
    private func look(at path: String) {
        let fingerprint = FileSystem.fingerprint(of: path)
        let observers = state.withLock { state -> [AsyncStream<Void>.Continuation] in
            guard let watch = state.watches[path], watch.seen != .some(fingerprint) else { return [] }
            state.watches[path]?.seen = .some(fingerprint)
            return watch.seen == nil ? [] : Array(watch.observers.values)
        }
        for observer in observers { observer.yield() }
    }
}
