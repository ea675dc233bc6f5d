// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages
internal import Synchronization

/// The traced requests that wait for an identity's token, so that the refresh's span can link to them.
package final class RefreshLinks: Sendable {
    /// The most requests that are kept for one identity.
    private static let limit = 32

    private let waiting = Mutex<[String: [TraceContext]]>([:])

    package init() {}

    /// Records that a request began to wait.
    package func add(_ context: TraceContext, waitingFor identity: String) {
        waiting.withLock { waiting in
            guard waiting[identity, default: []].count < Self.limit else { return }
            waiting[identity, default: []].append(context)
        }
    }

    /// Records that a request no longer waits.
    package func remove(_ context: TraceContext, waitingFor identity: String) {
        waiting.withLock { waiting in
            waiting[identity]?.removeAll { $0 == context }
            if waiting[identity]?.isEmpty == true { waiting[identity] = nil }
        }
    }

    /// The requests that wait now.
    package func waiting(for identity: String) -> [TraceContext] { waiting.withLock { $0[identity] ?? [] } }
}
