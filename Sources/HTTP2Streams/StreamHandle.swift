// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTP2

/// Our hold on the stream that carries an exchange: one stream after another, on whatever connection.
///
/// Both directions share it, and each has a place to wait at for changes of the stream. Confined to its loop's thread.
package final class StreamHandle {
    package let reading: LoopWait
    package let writing: LoopWait
    // Private, because the compiler proves of these what it has to check at run time for what others see.
    private var held: HTTP2Stream
    private var carrier: HTTP2Connection

    package init(_ stream: HTTP2Stream, on connection: HTTP2Connection) {
        held = stream
        carrier = connection
        reading = LoopWait(loop: connection.loop)
        writing = LoopWait(loop: connection.loop)
    }

    package var stream: HTTP2Stream { held }
    package var connection: HTTP2Connection { carrier }

    /// Takes another stream in place of one that is over.
    package func use(_ stream: HTTP2Stream, on connection: HTTP2Connection) {
        held = stream
        if connection !== carrier { carrier = connection }
        reading.forgetInterruption()
        writing.forgetInterruption()
    }

    /// Lets go of a stream that is over for us, so that its memory may serve another.
    package func letGo() {
        let pool = carrier.session.pool
        var released = pool.nobody
        swap(&released, &held)
        pool.give(&released)
    }

    /// Says that the stream has changed.
    package func wake() {
        reading.wake()
        writing.wake()
    }

    /// Ends both directions of the stream at once.
    package func reset(_ code: HTTP2ErrorCode) {
        carrier.session.reset(held, code)
        carrier.dispatch()
        carrier.scheduleSend()
    }

    /// Throws where nothing more can be sent.
    func check() throws(StreamError) {
        guard carrier.isOpen, held.resetCode == nil else { throw .reset }
    }
}
