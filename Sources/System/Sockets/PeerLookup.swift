// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Asks on a thread of its own who is at the other end of connections, one question at a time.
///
/// The thread is made with the first question.
package final class PeerLookup: Sendable {
    private let thread = Mutex<ThreadExecutor?>(nil)

    package init() {}

    deinit { thread.withLock { $0?.stop() } }

    /// Asks; see ``ConnectionEnds/peerUser()``.
    package func user(at ends: ConnectionEnds) async -> PeerUser {
        do throws(SystemError) {
            return await Task(executorPreference: try executor()) { ends.peerUser() }.value
        } catch {
            return .undiagnosed(error)
        }
    }

    private func executor() throws(SystemError) -> ThreadExecutor {
        try thread.withLock { thread throws(SystemError) in
            if let thread { return thread }
            let fresh = try ThreadExecutor(named: "peers")
            thread = fresh
            return fresh
        }
    }
}
