// SPDX-License-Identifier: Apache-2.0

import OAuth

/// Somebody who has an identity's lock until it is told to give it up.
struct Holder: Sendable {
    let lease: any StoreLease
    private let end: AsyncStream<Void>.Continuation
    private let task: Task<StoreError?, Never>

    /// Takes the lock.
    ///
    /// - Throws: `StoreError` if it is not to be had.
    init(of store: any SessionStore, _ identity: String, patience: Duration) async throws(StoreError) {
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        let (leases, begin) = AsyncStream.makeStream(of: (any StoreLease).self)
        let task = Task { () -> StoreError? in
            defer { begin.finish() }
            do throws(StoreError) {
                try await store.withLock(identity, waitingAtMost: patience, isolation: nil) { lease in
                    begin.yield(lease)
                    for await _ in ends {}
                }
                return nil
            } catch {
                return error
            }
        }
        var iterator = leases.makeAsyncIterator()
        guard let lease = await iterator.next() else {
            throw await task.value ?? .unavailable("the lock's body did not run")
        }
        (self.lease, self.end, self.task) = (lease, end, task)
    }

    /// Returns when the lock is free.
    func release() async {
        end.finish()
        _ = await task.value
    }
}
