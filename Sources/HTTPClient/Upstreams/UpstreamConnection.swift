// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTP1
package import BearerdHTTPMessages
package import BearerdSystem

/// One open HTTP/1.1 connection to an upstream.
///
/// Confined to its loop's thread; closed by its ``UpstreamPool`` or its deinit. Its buffers are reused by one
/// exchange after another.
package final class UpstreamConnection {
    package let stream: ByteStream
    /// Where ``response`` is; not private, because only what other modules may see is inlined there.
    package let head = Exclusive(HTTPResponse())
    /// The content of the response.
    package let incoming: MessageBody
    /// The request.
    package let outgoing: MessageWriter
    /// The head of the response.
    @_borrowed
    package var response: HTTPResponse {
        @inline(__always)
        _read { yield head.value }
        @inline(__always)
        _modify { yield &head.value }
    }
    var parser: ResponseParser {
        @inline(__always)
        _read { yield parsing.value }
        @inline(__always)
        _modify { yield &parsing.value }
    }
    let createdAt = CoarseInstant.now
    /// The upstream's announced limit for an idle connection (`Keep-Alive: timeout=`).
    package internal(set) var announcedKeepAlive: Duration? {
        get { announced }
        set { announced = newValue }
    }

    // Private, so that the compiler proves what it has to check at run time for what others see.
    private let parsing: Exclusive<ResponseParser>
    /// The most bytes of a response's trailers.
    let trailerLimit: Int
    private var announced: Duration?
    private var mayPersist = false
    private var idleBegan = CoarseInstant.now
    private var served = 0
    private var hasInterim = false

    /// Which of our certificates of the route it was made with (``OwnCertificate/version``); 0 without one.
    var certificateVersion = 0

    /// The connection's place under the route's limit, released when the connection closes.
    var permit: UpstreamPermit?
    private(set) var isIdle = false

    /// - Parameters:
    ///   - descriptor: connected and non-blocking; `wire` closes it.
    ///   - limits: the limits for the heads of responses, and for their trailers.
    init(wire: any Wire, descriptor: Int32, loop: EventLoop, limits: HeadLimits) {
        stream = ByteStream(wire: wire, readiness: Readiness(descriptor: descriptor, loop: loop), loop: loop)
        incoming = MessageBody(stream: stream)
        outgoing = MessageWriter(stream: stream)
        parsing = Exclusive(ResponseParser(limits: limits))
        trailerLimit = limits.headerBytes
    }

    deinit { close() }

    /// True if the upstream accepts another request after the current response.
    package internal(set) var persists: Bool {
        get { mayPersist }
        set { mayPersist = newValue }
    }

    package internal(set) var hasReadInterim: Bool {
        get { hasInterim }
        set { hasInterim = newValue }
    }

    /// When it last became idle.
    package var idleSince: CoarseInstant { idleBegan }

    /// The number of completed requests; 0 for a new connection.
    package var requestsServed: Int { served }

    /// True if no unexpected data has arrived, so that an idle connection can be used again.
    ///
    /// It makes a system call only after an event, or if the last receive left a doubt. A TLS session ticket
    /// is read and dropped.
    var isQuiet: Bool {
        guard stream.input.isEmpty, !stream.peerHasEnded else { return false }
        return stream.isReadable ? hasNothingToReceive : true
    }

    /// Like ``isQuiet``, but always asks the socket, so that it also notices an end of which no event has
    /// come yet.
    var isQuietNow: Bool {
        stream.input.isEmpty && !stream.peerHasEnded && hasNothingToReceive
    }

    private var hasNothingToReceive: Bool {
        do { return try stream.receive() == nil } catch { return false }
    }

    func becomeIdle(at now: CoarseInstant, hasServed: Bool = true) {
        idleBegan = now
        if hasServed { served += 1 }
        isIdle = true
        stream.releaseStorage()
    }

    func becomeBusy() { isIdle = false }

    package func close() {
        stream.close()
        permit = nil
    }
}
