// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// A message's content on its way in, one piece after another.
///
/// A piece stays where it was received until it is consumed, and little is received before that: this is the
/// back-pressure. At most one task takes pieces at a time.
package protocol BodySource: AnyObject {
    /// Whether the last byte of the message was handed out; never so when there was more than the limit.
    var isFinished: Bool { get }
    /// Content bytes handed out so far, without framing.
    var byteCount: UInt64 { get }
    /// The fields behind the content; complete once it is finished.
    var trailers: HTTPFields { get }

    /// Takes the next piece of what has already arrived; the piece before it must have been consumed.
    ///
    /// - Returns: how many bytes it has; nil when the content is finished or more must arrive first.
    func nextPiece() throws(MessageError) -> Int?

    /// Takes the next piece, waiting for it if need be, and lets others go first where it is their turn.
    ///
    /// - Parameter timeout: of the wait for more bytes; zero waits for ever.
    /// - Returns: how many bytes it has; nil when the content is finished.
    /// - Throws: ``MessageError/truncated`` when the sender ends first.
    func nextPiece(within timeout: Duration) async throws(MessageError) -> Int?

    /// How many bytes the piece at hand has.
    ///
    /// nil if the connection has been closed on our side meanwhile.
    var pieceCount: Int? { get }

    /// Lends the bytes of the piece at hand.
    ///
    /// - Returns: nil, and nothing is lent, if the connection has been closed on our side meanwhile.
    func withPiece<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result?

    /// Says that nobody needs the piece at hand any more; without one it does nothing.
    func consumePiece()

    /// Forgets what has arrived of the content and is not consumed; a malformed rest stays.
    func skipArrived()
}
