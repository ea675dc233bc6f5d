// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTPMessages

/// An outgoing message: its exchange writes the head, then come pieces of the content, then the end.
///
/// Small pieces, and bytes that the peer did not take at once, are kept until ``flush()``. At most one task
/// sends at a time.
package protocol BodySink: AnyObject {
    /// True if the framing needs bytes after the last piece, such as the last chunk (RFC 9112 §7.1).
    var framesEnd: Bool { get }
    /// True once a byte of the message has been sent to the peer.
    var hasSent: Bool { get }

    /// True if the peer is ready to take as much as is received at once: a sender that waits for one that is not is
    /// asked for less.
    var takesMuch: Bool { get }

    /// Sends the kept bytes and then `piece`, as much as the peer takes at once, and keeps the rest.
    ///
    /// - Returns: true if only bytes are left that are few enough to wait for ``flush()``.
    func offer(_ piece: Span<UInt8>) throws(StreamError) -> Bool

    /// Sends the kept bytes and then the current piece of `source`, waits for the peer to take them, and
    /// consumes the piece.
    ///
    /// A small piece may be kept for ``flush(within:)``.
    ///
    /// - Parameter timeout: limits each wait for the peer to take more; zero waits for ever.
    func send(pieceOf source: some BodySource, within timeout: Duration) async throws(StreamError)

    /// Keeps a piece of the content that is in memory.
    func append(_ content: [UInt8])

    /// Writes the end of the message; calling it again does nothing.
    ///
    /// - Parameter trailers: evaluated only if the framing can carry trailers.
    func end(trailers: @autoclosure () -> HTTPFields)

    /// Sends the kept bytes, as many as the peer takes at once.
    ///
    /// - Returns: true if nothing is left.
    func flush() throws(StreamError) -> Bool

    /// Sends the kept bytes.
    ///
    /// - Parameter timeout: limits each wait for the peer to take more; zero waits for ever.
    func flush(within timeout: Duration) async throws(StreamError)
}
