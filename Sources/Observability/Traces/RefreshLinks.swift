// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages
internal import Synchronization

/// Which requests that are traced wait for the token of an identity, for the span of the refresh to link to.
package final class RefreshLinks: Sendable {
    /// Of one identity.
    private static let limit = 32

    private let waiting = Mutex<[String: [TraceContext]]>([:])

    package init() {}

    /// Begins a wait.
    package func add(_ context: TraceContext, waitingFor identity: String) {
        waiting.withLock { waiting in
            guard waiting[identity, default: []].count < Self.limit else { return }
            waiting[identity, default: []].append(context)
        }
    }

    /// Ends a wait.
    package func remove(_ context: TraceContext, waitingFor identity: String) {
        waiting.withLock { waiting in
            waiting[identity]?.removeAll { $0 == context }
            if waiting[identity]?.isEmpty == true { waiting[identity] = nil }
        }
    }

    /// The requests that wait now.
    package func waiting(for identity: String) -> [TraceContext] { waiting.withLock { $0[identity] ?? [] } }
}
