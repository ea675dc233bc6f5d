// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import BearerdSystem

/// Requests that wait until one of a pool's connections takes one more stream.
///
/// Confined to its loop's thread.
final class RoomQueue {
    private let waiting = Exclusive<[LoopWait]>([])
    private let loop: EventLoop

    init(on loop: EventLoop) { self.loop = loop }

    var isEmpty: Bool { waiting.value.isEmpty }

    /// Waits until somebody is woken, which need not mean that there is room.
    ///
    /// - Parameter timeout: zero waits for ever.
    /// - Throws: ``UpstreamError/busy`` once it is over.
    func wait(within timeout: Duration) async throws(UpstreamError) {
        let room = LoopWait(loop: loop)
        waiting.value.append(room)
        do {
            try await room.wait(within: timeout, orThrow: .busy, on: loop)
        } catch {
            // Woken in the same turn in which it gives up: the room is the next one's.
            if !remove(room) { wakeNext() }
            throw error
        }
        remove(room)
    }

    /// - Returns: false if ``wakeNext()`` has woken it.
    @discardableResult
    private func remove(_ room: LoopWait) -> Bool {
        guard let index = waiting.value.firstIndex(where: { $0 === room }) else { return false }
        waiting.value.remove(at: index)
        return true
    }

    func wakeNext() {
        if !waiting.value.isEmpty { waiting.value.removeFirst().wake() }
    }

    func wakeAll() {
        let woken = waiting.value
        woken.forEach { $0.wake() }
    }
}
