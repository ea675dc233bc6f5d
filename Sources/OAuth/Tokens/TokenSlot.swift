// SPDX-License-Identifier: Apache-2.0

package import Synchronization

/// The access token that a session publishes to the threads that serve requests, each with a ``TokenReader``.
///
/// The slot is empty while there is no token, and while the next request must ask the session first.
package final class TokenSlot: Sendable {
    private let published = Atomic<Int>(0)
    /// Not private, because only what other modules may see is inlined there.
    package let watched = Atomic<Bool>(false)
    private let snapshot = Mutex<AccessTokenSnapshot?>(nil)
    private let failing = Mutex<String?>(nil)

    package init() {}

    /// Changes with every publication.
    package var version: Int { published.load(ordering: .acquiring) }

    /// True while the session wants to hear of responses that accept the token, because an earlier one was refused.
    ///
    /// Reading it costs one load, so the proxy does that for each response.
    @inline(__always)
    package var isWatched: Bool { watched.load(ordering: .relaxed) }

    /// The published token.
    package var current: AccessTokenSnapshot? { snapshot.withLock { $0 } }

    /// Replaces the token.
    func publish(_ new: AccessTokenSnapshot?) {
        snapshot.withLock { $0 = new }
        published.wrappingAdd(1, ordering: .releasing)
    }

    /// Host and port of the server whose failure is the reason for a missing token; nil if it is no server's.
    package var failingServer: String? { failing.withLock { $0 } }

    /// Sets ``failingServer``.
    func blame(_ server: String?) {
        failing.withLock { $0 = server }
    }

    /// Sets ``isWatched``.
    func watch(_ isWatched: Bool) {
        watched.store(isWatched, ordering: .relaxed)
    }
}
