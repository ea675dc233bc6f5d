// SPDX-License-Identifier: Apache-2.0

package import BearerdSystem
package import OAuth
import Synchronization

/// Sessions that end with the process (`type: memory`).
package final class MemoryStore: SessionStore {
    private struct State {
        // Names are bytes, as they are on a disk: Swift's strings are equal in several spellings.
        var sessions: [[UInt8]: StoredSession] = [:]
        /// The number of the lease that holds each identity.
        var holders: [[UInt8]: Int] = [:]
        var leases = 0
        var spent: [[UInt8]: Spending] = [:]
    }

    /// A refresh token that was sent, by the generation of its session.
    private struct Spending {
        let generation: Int
        /// True if it had been sent before.
        let isRepeated: Bool
        /// True if its outcome is unknown.
        var isLeft = false
    }

    private let state = Mutex(State())
    private let thread: ThreadExecutor

    /// - Parameter thread: its timers are used to wait for a lock.
    package init(on thread: ThreadExecutor) { self.thread = thread }

    package func load(_ identity: String) -> StoredSession? {
        state.withLock { $0.sessions[Array(identity.utf8)] }
    }

    package func lock(
        _ identity: String, waitingAtMost limit: Duration
    ) async throws(StoreError) -> any StoreLease {
        let deadline = ContinuousClock.now + limit
        while true {
            if let lease = take(Array(identity.utf8)) { return lease }
            guard .now < deadline, !Task.isCancelled else { throw .busy(by: StoreError.thisProcess) }
            await thread.sleep(for: .milliseconds(5))
        }
    }

    /// - Returns: a stream that has ended: no other process sees this store.
    package func changes(of identity: String) -> AsyncStream<Void> { AsyncStream { $0.finish() } }

    /// - Returns: nil if somebody else has it.
    private func take(_ identity: [UInt8]) -> Lease? {
        state.withLock { state in
            guard state.holders[identity] == nil else { return nil }
            state.leases += 1
            state.holders[identity] = state.leases
            return Lease(store: self, identity: identity, number: state.leases)
        }
    }

    private struct Lease: StoreLease {
        let store: MemoryStore
        let identity: [UInt8]
        let number: Int

        func save(
            _ session: StoredSession, over read: StoredSession?, keepingPrevious keepsPrevious: Bool
        ) throws(StoreError) {
            precondition(session.identity.utf8.elementsEqual(identity), "a lease is good for one identity")
            try store.state.withLock { state throws(StoreError) in
                guard state.holders[identity] == number else { throw .leaseLost }
                try session.checkReplacing(state.sessions[identity], read: read)
                state.sessions[identity] = session
            }
        }

        func spend(_ session: StoredSession) throws(StoreError) {
            try store.state.withLock { state throws(StoreError) in
                guard state.holders[identity] == number else { throw .leaseLost }
                let before = state.spent[identity].flatMap { $0.generation == session.generation ? $0 : nil }
                state.spent[identity] = Spending(
                    generation: session.generation,
                    isRepeated: before.map { $0.isLeft || $0.isRepeated } ?? false)
            }
        }

        var mayBeSpent: Bool { store.state.withLock { $0.spent[identity]?.isRepeated ?? false } }

        func wasLeftSpent(_ session: StoredSession) -> Bool {
            store.state.withLock {
                $0.spent[identity].map { $0.isLeft && $0.generation == session.generation } ?? false
            }
        }

        func leaveSpent() { store.state.withLock { $0.spent[identity]?.isLeft = true } }

        func release() {
            store.state.withLock { state in
                guard state.holders[identity] == number else { return }
                state.holders[identity] = nil
                if state.spent[identity]?.isLeft == false { state.spent[identity] = nil }
            }
        }
    }
}
