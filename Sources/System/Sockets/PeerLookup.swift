// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Asks on a thread of its own who is at the other end of connections, one question at a time.
///
/// The thread is made with the first question. Where none can be had the caller's own waits for the kernel, a second
/// at most.
package final class PeerLookup: Sendable {
    private let thread = Mutex<ThreadExecutor?>(nil)

    package init() {}

    deinit { thread.withLock { $0?.stop() } }

    /// Asks; see ``ConnectionEnds/peerUser()``.
    package func user(at ends: ConnectionEnds) async -> PeerUser {
        guard let executor = executor() else { return ends.peerUser() }
        return await Task(executorPreference: executor) { ends.peerUser() }.value
    }

    private func executor() -> ThreadExecutor? {
        thread.withLock { thread in
            if thread == nil { thread = try? ThreadExecutor(named: "peers") }
            return thread
        }
    }
}
