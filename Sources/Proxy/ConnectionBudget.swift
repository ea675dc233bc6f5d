// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// How many client connections the process may have; beyond it the kernel's accept queue waits.
package final class ConnectionBudget: Sendable {
    private let limit: Int
    private let used = Atomic<Int>(0)
    private let waiting = Mutex<[@Sendable () -> Void]>([])

    package init(limit: Int) {
        self.limit = limit
    }

    /// Counts one connection in.
    ///
    /// - Parameter resume: called once, from any thread, when the count falls below the limit again.
    /// - Returns: whether there is room for more after it.
    func enter(resume: @escaping @Sendable () -> Void) -> Bool {
        guard used.wrappingAdd(1, ordering: .relaxed).newValue >= limit else { return true }
        waiting.withLock { $0.append(resume) }
        // Another worker may have left between the two lines above; nobody must wait for a wake-up that is past.
        if used.load(ordering: .relaxed) < limit { wake() }
        return false
    }

    /// Counts one connection out.
    func leave() {
        let left = used.wrappingSubtract(1, ordering: .relaxed).newValue
        if left == limit - 1 { wake() }
    }

    private func wake() {
        let resumes = waiting.withLock { waiting in
            defer { waiting.removeAll() }
            return waiting
        }
        for resume in resumes { resume() }
    }
}
