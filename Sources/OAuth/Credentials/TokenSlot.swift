// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Where a session leaves the access token for the threads that serve requests.
///
/// One writer, the session; any number of readers, each through a ``TokenReader`` of its own. The slot is empty
/// while there is no token, and while the next request must ask the session first.
package final class TokenSlot: Sendable {
    private let published = Atomic<Int>(0)
    private let watched = Atomic<Bool>(false)
    private let snapshot = Mutex<AccessTokenSnapshot?>(nil)

    package init() {}

    /// Changes with every publication.
    package var version: Int { published.load(ordering: .acquiring) }

    /// Whether the session wants to hear of answers that accepted the token, because an earlier one was refused.
    ///
    /// False nearly always; reading it costs one load, so the proxy looks at every answer.
    package var isWatched: Bool { watched.load(ordering: .relaxed) }

    /// The token at this moment, with the version it was published as or a later one.
    package var current: AccessTokenSnapshot? { snapshot.withLock { $0 } }

    /// Replaces the token that readers see.
    func publish(_ new: AccessTokenSnapshot?) {
        snapshot.withLock { $0 = new }
        published.wrappingAdd(1, ordering: .releasing)
    }

    /// Says whether accepted tokens are to be reported.
    func watch(_ isWatched: Bool) {
        watched.store(isWatched, ordering: .relaxed)
    }
}
