// SPDX-License-Identifier: Apache-2.0

package import OAuth
import Synchronization
package import System

/// Sessions that end with the process (`type: memory`).
package final class MemoryStore: SessionStore {
    private let sessions = Mutex<[String: StoredSession]>([:])
    private let locked = Mutex<Set<String>>([])
    private let thread: ThreadExecutor

    /// - Parameter thread: whose timers those use who wait for a lock.
    package init(on thread: ThreadExecutor) {
        self.thread = thread
    }

    package func load(_ identity: String) -> StoredSession? {
        sessions.withLock { $0[identity] }
    }

    package func save(_ session: StoredSession, keepingPrevious keepsPrevious: Bool) {
        sessions.withLock { $0[session.identity] = session }
    }

    package func remove(_ identity: String) {
        sessions.withLock { $0[identity] = nil }
    }

    package func lock(
        _ identity: String, waitingAtMost limit: Duration
    ) async throws(StoreError) -> any StoreLock {
        let deadline = ContinuousClock.now + limit
        while !locked.withLock({ $0.insert(identity).inserted }) {
            guard .now < deadline, !Task.isCancelled else { throw .busy(by: nil) }
            await thread.sleep(for: .milliseconds(5))
        }
        return Lock(identity, of: self)
    }

    /// - Returns: a stream that has ended: no other process sees this store.
    package func changes(of identity: String) -> AsyncStream<Void> {
        AsyncStream { $0.finish() }
    }

    /// Held until released, or dropped.
    private final class Lock: StoreLock {
        private let identity: String
        private let store: Mutex<MemoryStore?>

        init(_ identity: String, of store: MemoryStore) {
            self.identity = identity
            self.store = Mutex(store)
        }

        deinit {
            release()
        }

        func release() {
            let store = store.withLock { store in
                defer { store = nil }
                return store
            }
            store?.locked.withLock { _ = $0.remove(identity) }
        }
    }
}
