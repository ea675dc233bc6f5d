// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Limits the client connections of the process; beyond the limit they wait in the kernel's accept queue.
package final class ConnectionBudget: Sendable {
    /// The decision on a new connection.
    enum Admission {
        case withRoomForMore
        /// It takes the last place; further connections wait in the accept queue.
        case asTheLast
        /// It got no place and is not counted, because another worker took the last one.
        case refused
    }

    private let maximum: Atomic<Int>
    private let used = Atomic<Int>(0)
    private let waiting = Mutex<[@Sendable () -> Void]>([])

    package init(limit: Int) {
        maximum = Atomic(limit)
    }

    private var limit: Int { maximum.load(ordering: .relaxed) }

    /// True if half of the places are taken.
    var isScarce: Bool { used.load(ordering: .relaxed) * 2 >= limit }

    /// Changes the limit; existing connections stay.
    package func use(limit: Int) {
        maximum.store(limit, ordering: .relaxed)
        if used.load(ordering: .relaxed) < limit { wake() }
    }

    /// The number of client connections for which the process also has the descriptors to serve them.
    ///
    /// - Parameters:
    ///   - wanted: the configured number.
    ///   - freeDescriptors: the descriptors that the process may still open; up to half of them are kept for
    ///     upstreams.
    ///   - upstreams: the most connections to upstreams at once.
    ///   - workers: the number of workers.
    ///   - reserved: the descriptors that other parts of the program may need.
    package static func limit(
        of wanted: Int, freeDescriptors: Int, upstreams: Int, workers: Int, reserved: Int = 0
    ) -> Int {
        let freeDescriptors = freeDescriptors - reserved
        // These come only with the first requests: libcurl's own descriptors, connections to providers.
        let latecomers = 2 * workers + 4
        let reserve = min(freeDescriptors / 2, upstreams) + latecomers
        return max(1, min(wanted, freeDescriptors - reserve))
    }

    /// The fewest free descriptors with which one request at a time can be served.
    ///
    /// libcurl needs some on each loop that uses it; then a client, its upstream, a client of the admin
    /// listener, the provider and the store's files need one each.
    package static func fewestDescriptors(workers: Int) -> Int { 2 * workers + 10 }

    /// Counts a connection in if there is room.
    ///
    /// - Parameter mayExceed: true to let it in even without room.
    func enter(mayExceed: Bool) -> Admission {
        let count = used.wrappingAdd(1, ordering: .relaxed).newValue
        let limit = limit
        if count < limit { return .withRoomForMore }
        let isIn = count == limit || mayExceed
        if !isIn { used.wrappingSubtract(1, ordering: .relaxed) }
        return isIn ? .asTheLast : .refused
    }

    /// Calls `resume` once, on any thread, when there is room for more connections.
    func awaitRoom(_ resume: @escaping @Sendable () -> Void) {
        waiting.withLock { $0.append(resume) }
        // Somebody may have left before the line above; nobody must wait for a wake-up that is past.
        if used.load(ordering: .relaxed) < limit { wake() }
    }

    /// Counts a connection out.
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
