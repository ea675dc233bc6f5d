// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTP2
package import BearerdSystem

/// Our hold on the stream that carries an exchange: one stream after another, on whatever connection.
///
/// Both directions share it, and each has a place to wait at for changes of the stream. Confined to its loop's thread.
package final class StreamHandle {
    package let reading: LoopWait
    package let writing: LoopWait
    /// Where ``stream`` is; not private, because only what other modules may see is inlined there.
    package let held: Exclusive<HTTP2Stream>
    /// Where ``connection`` is.
    package let carrier: Exclusive<HTTP2Connection>

    package init(_ stream: HTTP2Stream, on connection: HTTP2Connection) {
        held = Exclusive(stream)
        carrier = Exclusive(connection)
        reading = LoopWait(loop: connection.loop)
        writing = LoopWait(loop: connection.loop)
    }

    package var stream: HTTP2Stream {
        @inline(__always)
        _read { yield held.value }
    }
    package var connection: HTTP2Connection {
        @inline(__always)
        _read { yield carrier.value }
    }

    /// Lends both for several steps, during which neither may be replaced: none of the steps waits.
    @inline(__always)
    package func lend<Result, Failure: Error>(
        _ body: (HTTP2Connection, HTTP2Stream) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try carrier.lend { (connection) throws(Failure) in
            try held.lend { (stream) throws(Failure) in try body(connection, stream) }
        }
    }

    /// Takes another stream in place of one that is over.
    package func use(_ stream: HTTP2Stream, on connection: HTTP2Connection) {
        held.value = stream
        if connection !== carrier.value { carrier.value = connection }
        reading.forgetInterruption()
        writing.forgetInterruption()
    }

    /// Lets go of a stream that is over for us, so that its memory may serve another.
    package func letGo() {
        carrier.lend { connection in
            let pool = connection.session.pool
            var released = pool.nobody
            swap(&released, &held.value)
            pool.give(&released)
        }
    }

    /// Says that the stream has changed.
    package func wake() {
        reading.wake()
        writing.wake()
    }

    /// Ends both directions of the stream at once.
    package func reset(_ code: HTTP2ErrorCode) {
        // Copies: whoever hears of it may take another stream.
        let (connection, stream) = (connection, stream)
        connection.session.reset(stream, code)
        connection.dispatch()
        connection.scheduleSend()
    }

    /// Throws where nothing more can be sent.
    func check() throws(StreamError) {
        try lend { (connection, stream) throws(StreamError) in try check(connection, stream) }
    }

    /// Throws where nothing more can be sent on the stream that is held, which is looked up once for all that is done with it.
    @inline(__always)
    func check(_ connection: HTTP2Connection, _ stream: HTTP2Stream) throws(StreamError) {
        guard connection.isOpen, stream.resetCode == nil else { throw .reset }
    }
}
