// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTPMessages

/// A message on its way out: the head first, which its exchange writes, then pieces of the content, then the end.
///
/// What is small, or what the peer did not take at once, is kept until ``flush()``. At most one task sends at a time.
package protocol BodySink: AnyObject {
    /// Whether something has to be written behind the last piece.
    var framesEnd: Bool { get }
    /// Whether the peer has been sent a byte of the message.
    var hasSent: Bool { get }

    /// Sends what is kept and then `piece`, as much as the peer takes at once, and keeps the rest.
    ///
    /// - Returns: whether nothing is left but what is small enough to wait for ``flush()``.
    func offer(_ piece: Span<UInt8>) throws(StreamError) -> Bool

    /// Sends what is kept and then the piece at hand of `source`, waiting for the peer to take it, and consumes it; a
    /// small one may be kept for ``flush(within:)``.
    ///
    /// - Parameter timeout: of each wait for the peer to take more; zero waits for ever.
    func send(pieceOf source: some BodySource, within timeout: Duration) async throws(StreamError)

    /// Keeps a piece of the content that is in memory.
    func append(_ content: [UInt8])

    /// Writes what ends the message; once is enough, and more often does no harm.
    ///
    /// - Parameter trailers: asked for only where they can be sent.
    func end(trailers: @autoclosure () -> HTTPFields)

    /// Sends what is kept, as much as the peer takes at once.
    ///
    /// - Returns: whether that was all.
    func flush() throws(StreamError) -> Bool

    /// Sends what is kept.
    ///
    /// - Parameter timeout: of each wait for the peer to take more; zero waits for ever.
    func flush(within timeout: Duration) async throws(StreamError)
}
