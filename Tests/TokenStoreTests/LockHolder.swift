// SPDX-License-Identifier: Apache-2.0

import OAuth

/// Somebody who keeps an identity's lock until the test has it given up.
struct LockHolder {
    let lease: any StoreLease
    private let end: AsyncStream<Void>.Continuation
    private let task: Task<Void, Never>

    init(
        of store: any SessionStore, _ identity: String = "default", waitingAtMost limit: Duration = .zero
    ) async throws {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let (outcomes, outcome) = AsyncStream.makeStream(of: Result<any StoreLease, StoreError>.self)
        task = Task {
            do throws(StoreError) {
                try await store.withLock(identity, waitingAtMost: limit) { lease in
                    outcome.yield(.success(lease))
                    for await _ in ended {}
                }
            } catch {
                outcome.yield(.failure(error))
            }
            outcome.finish()
        }
        self.end = end
        var iterator = outcomes.makeAsyncIterator()
        guard let first = await iterator.next() else { throw CancellationError() }
        lease = try first.get()
    }

    /// Returns when others can have it.
    func release() async {
        end.finish()
        await task.value
    }
}
