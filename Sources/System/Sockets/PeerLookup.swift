// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Looks up the users of connections on a thread of its own, one at a time.
///
/// The thread is started for the first lookup. If none can be started, the caller's thread waits for the
/// kernel, a second at most.
package final class PeerLookup: Sendable {
    private let thread = Mutex<ThreadExecutor?>(nil)

    package init() {}

    deinit { thread.withLock { $0?.stop() } }

    /// Looks up the user; see ``ConnectionEnds/peerUser()``.
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
