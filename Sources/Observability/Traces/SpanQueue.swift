// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Spans on their way from the threads that end them to the one that exports them.
///
/// It is bounded: what comes while it is full is dropped and counted.
package final class SpanQueue: Sendable {
    private struct State {
        var spans: [TraceSpan] = []
        var dropped = 0
    }

    private let limit: Int
    private let state = Mutex(State())
    /// Runs on the thread of whoever brings the first span.
    private let onFirst: @Sendable () -> Void

    /// - Parameters:
    ///   - limit: of spans that wait.
    ///   - onFirst: runs when a span comes and none waits.
    package init(limit: Int = 2048, onFirst: @escaping @Sendable () -> Void) {
        self.limit = limit
        self.onFirst = onFirst
    }

    /// Takes spans that have ended.
    package func take(_ spans: [TraceSpan]) {
        let isFirst = state.withLock { state in
            let room = max(0, limit - state.spans.count)
            let wasEmpty = state.spans.isEmpty
            state.spans += spans.prefix(room)
            state.dropped += max(0, spans.count - room)
            return wasEmpty && !state.spans.isEmpty
        }
        if isFirst { onFirst() }
    }

    /// How many spans wait.
    package var count: Int { state.withLock { $0.spans.count } }

    /// The oldest spans, which wait no longer.
    package func next(_ count: Int) -> [TraceSpan] {
        state.withLock { state in
            let batch = Array(state.spans.prefix(count))
            state.spans.removeFirst(batch.count)
            return batch
        }
    }

    /// How many spans were lost.
    package var dropped: Int { state.withLock { $0.dropped } }

    /// Counts spans that are lost.
    package func drop(_ count: Int) { state.withLock { $0.dropped += count } }
}
