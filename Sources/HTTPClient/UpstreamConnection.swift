// SPDX-License-Identifier: Apache-2.0

package import EventLoop

/// One open connection to an upstream.
///
/// Confined to its loop's thread; closed by its ``UpstreamPool``, or when it goes.
package final class UpstreamConnection {
    package let stream: ByteStream
    package let createdAt = CoarseInstant.now
    /// When it was last given back.
    package private(set) var idleSince = CoarseInstant.now
    /// How many requests it has carried to their end; 0 for a fresh one.
    package private(set) var requestsServed = 0

    /// Its place under the route's limit, given up when it goes.
    var permit: UpstreamPermit?
    private(set) var isIdle = false

    /// - Parameter descriptor: connected and non-blocking; `wire` closes it.
    init(wire: any Wire, descriptor: Int32, loop: EventLoop) {
        stream = ByteStream(wire: wire, readiness: Readiness(descriptor: descriptor, loop: loop), loop: loop)
    }

    deinit { close() }

    /// Whether nothing has arrived that nobody asked for: what an idle connection must be to be used again.
    ///
    /// Without a system call unless an event has come in, or the last receive left a doubt. Over TLS a session ticket
    /// is read and swallowed.
    var isQuiet: Bool {
        guard stream.input.isEmpty, !stream.readiness.peerHasEnded else { return false }
        guard stream.readiness.isReadable else { return true }
        let arrived = try? stream.receive()
        return arrived == .some(.none)
    }

    func becomeIdle(at now: CoarseInstant) {
        idleSince = now
        requestsServed += 1
        isIdle = true
        stream.releaseStorage()
    }

    func becomeBusy() { isIdle = false }

    func close() {
        stream.close()
        permit = nil
    }
}
