// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A bounded queue of spans between the threads that end them and the one that exports them.
///
/// Spans that come while it is full are dropped and counted.
package final class SpanQueue: Sendable {
    private struct State {
        var spans: [TraceSpan] = []
        var dropped = 0
    }

    private let limit: Int
    private let state = Mutex(State())
    /// Called on the thread that adds the first span.
    private let onFirst: @Sendable () -> Void

    /// - Parameters:
    ///   - limit: the most spans that wait.
    ///   - onFirst: called when a span is added to the empty queue.
    package init(limit: Int = 2048, onFirst: @escaping @Sendable () -> Void) {
        self.limit = limit
        self.onFirst = onFirst
    }

    /// Adds spans that have ended.
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

    /// The number of waiting spans.
    package var count: Int { state.withLock { $0.spans.count } }

    /// Removes and returns the oldest spans.
    package func next(_ count: Int) -> [TraceSpan] {
        state.withLock { state in
            let batch = Array(state.spans.prefix(count))
            state.spans.removeFirst(batch.count)
            return batch
        }
    }

    /// The number of lost spans.
    package var dropped: Int { state.withLock { $0.dropped } }

    /// Counts spans that were lost elsewhere.
    package func drop(_ count: Int) { state.withLock { $0.dropped += count } }
}
