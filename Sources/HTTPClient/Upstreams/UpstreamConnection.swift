// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTP1
package import BearerdHTTPMessages

/// One open HTTP/1.1 connection to an upstream.
///
/// Confined to its loop's thread; closed by its ``UpstreamPool``, or when it goes. What its exchanges need is used again
/// by the next.
package final class UpstreamConnection {
    package let stream: ByteStream
    /// The content of the answer.
    package let incoming: MessageBody
    /// The request.
    package let outgoing: MessageWriter
    package var response = HTTPResponse()
    var parser: ResponseParser
    /// Whether the upstream takes another request after the answer at hand.
    package internal(set) var persists = false
    package let createdAt = CoarseInstant.now
    /// When it was last given back.
    package private(set) var idleSince = CoarseInstant.now
    /// How many requests it has carried to their end; 0 for a fresh one.
    package private(set) var requestsServed = 0

    /// How long the upstream says that it keeps the connection while nothing happens (`Keep-Alive: timeout=`).
    package var announcedPatience: Duration?

    /// Its place under the route's limit, given up when it goes.
    var permit: UpstreamPermit?
    private(set) var isIdle = false

    /// - Parameters:
    ///   - descriptor: connected and non-blocking; `wire` closes it.
    ///   - limits: of the heads of answers.
    init(wire: any Wire, descriptor: Int32, loop: EventLoop, limits: HeadLimits) {
        stream = ByteStream(wire: wire, readiness: Readiness(descriptor: descriptor, loop: loop), loop: loop)
        incoming = MessageBody(stream: stream)
        outgoing = MessageWriter(stream: stream)
        parser = ResponseParser(limits: limits)
    }

    deinit { close() }

    /// Whether nothing has arrived that nobody asked for: what an idle connection must be to be used again.
    ///
    /// Without a system call unless an event has come in, or the last receive left a doubt. Over TLS a session ticket
    /// is read and swallowed.
    var isQuiet: Bool {
        guard stream.input.isEmpty, !stream.readiness.peerHasEnded else { return false }
        return stream.readiness.isReadable ? hasNothingToReceive : true
    }

    /// Whether nothing has come in, an end neither of which no event has told yet; a look at the socket, for a system call.
    var isQuietNow: Bool {
        stream.input.isEmpty && !stream.readiness.peerHasEnded && hasNothingToReceive
    }

    private var hasNothingToReceive: Bool {
        do { return try stream.receive() == nil } catch { return false }
    }

    func becomeIdle(at now: CoarseInstant) {
        idleSince = now
        requestsServed += 1
        isIdle = true
        stream.releaseStorage()
    }

    func becomeBusy() { isIdle = false }

    package func close() {
        stream.close()
        permit = nil
    }
}
