// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// How many client connections the process may have; beyond it the kernel's accept queue waits.
package final class ConnectionBudget: Sendable {
    /// What becomes of a connection.
    enum Admission {
        case withRoomForMore
        /// Beyond it the accept queue waits.
        case asTheLast
        /// Another worker let the last one in; it was not counted.
        case refused
    }

    private let maximum: Atomic<Int>
    private let used = Atomic<Int>(0)
    private let waiting = Mutex<[@Sendable () -> Void]>([])

    package init(limit: Int) {
        maximum = Atomic(limit)
    }

    private var limit: Int { maximum.load(ordering: .relaxed) }

    /// Allows for more, or fewer, from here on; those that there are stay.
    package func use(limit: Int) {
        maximum.store(limit, ordering: .relaxed)
        if used.load(ordering: .relaxed) < limit { wake() }
    }

    /// How many connections there may be, so that what serves them finds descriptors too.
    ///
    /// - Parameters:
    ///   - wanted: by the configuration.
    ///   - freeDescriptors: how many there are; half of them stay, if so many may be needed.
    ///   - upstreams: how many connections to upstreams there may be at once.
    ///   - workers: how many workers there are.
    ///   - reserved: what others than clients and upstreams may take.
    package static func limit(
        of wanted: Int, freeDescriptors: Int, upstreams: Int, workers: Int, reserved: Int = 0
    ) -> Int {
        let freeDescriptors = freeDescriptors - reserved
        // What comes only with the first requests: libcurl's own descriptors, connections to providers.
        let latecomers = 2 * workers + 4
        let reserve = min(freeDescriptors / 2, upstreams) + latecomers
        return max(1, min(wanted, freeDescriptors - reserve))
    }

    /// How many descriptors must be free at the start, so that one request after the other can be served: what libcurl
    /// keeps for each loop that it is used on, a client, its upstream, the admin listener's client, the provider, the
    /// store's files.
    package static func fewestDescriptors(workers: Int) -> Int { 2 * workers + 10 }

    /// Counts one connection in, unless there is no room for it.
    ///
    /// - Parameter mayExceed: whether it is let in without room.
    func enter(mayExceed: Bool) -> Admission {
        let count = used.wrappingAdd(1, ordering: .relaxed).newValue
        let limit = limit
        if count < limit { return .withRoomForMore }
        let isIn = count == limit || mayExceed
        if !isIn { used.wrappingSubtract(1, ordering: .relaxed) }
        return isIn ? .asTheLast : .refused
    }

    /// Has `resume` called once, from any thread, when there is room for more.
    func awaitRoom(_ resume: @escaping @Sendable () -> Void) {
        waiting.withLock { $0.append(resume) }
        // Somebody may have left before the line above; nobody must wait for a wake-up that is past.
        if used.load(ordering: .relaxed) < limit { wake() }
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
