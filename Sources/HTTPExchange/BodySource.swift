// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// The content of an incoming message, one piece after another.
///
/// A piece stays in the receive buffer until it is consumed, and little more is received before that, which
/// makes the back-pressure. At most one task takes pieces at a time.
package protocol BodySource: AnyObject {
    /// True once the last byte of the message has been handed out; stays false if the content was larger than
    /// the limit.
    var isFinished: Bool { get }
    /// Content bytes handed out so far, without framing.
    var byteCount: UInt64 { get }
    /// The trailer fields; complete once the content is finished.
    var trailers: HTTPFields { get }
    /// True if there are trailers so far: most messages have none, and need not be asked for them.
    var hasTrailers: Bool { get }

    /// Takes the next piece of what has already arrived; the piece before it must have been consumed.
    ///
    /// - Returns: how many bytes it has; nil when the content is finished or more must arrive first.
    func nextPiece() throws(MessageError) -> Int?

    /// Takes the next piece, waits for it if necessary, and lets other connections run first when this one's
    /// turn is over.
    ///
    /// - Parameters:
    ///   - timeout: limits the wait for more bytes; zero waits for ever.
    ///   - sparingly: true to receive no more than a small piece at once, because the receiver takes no more.
    /// - Throws: ``MessageError/truncated`` when the sender ends first.
    func nextPiece(within timeout: Duration, sparingly: Bool) async throws(MessageError) -> Int?

    /// Waits while `take` is called, by no task, for what arrives.
    ///
    /// - Parameters:
    ///   - timeout: limits the wait for each arrival; zero waits for ever.
    ///   - take: takes and consumes pieces by ``nextPiece()``; false ends the wait.
    /// - Returns: false if there was no wait: more has arrived already, or each piece needs a task.
    func relay(within timeout: Duration, by take: @escaping () -> Bool) async throws(MessageError) -> Bool

    /// The length of the current piece in bytes; nil if our side has closed the connection meanwhile.
    var pieceCount: Int? { get }

    /// Calls `body` with the bytes of the current piece.
    ///
    /// - Returns: nil, without a call of `body`, if our side has closed the connection meanwhile.
    func withPiece<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result?

    /// Gives back the current piece; does nothing if there is none.
    func consumePiece()

    /// Drops content that has arrived and was not consumed; malformed bytes stay where they are.
    func skipArrived()
}

extension BodySource {
    package var hasTrailers: Bool { !trailers.isEmpty }

    @inline(__always)
    package func relay(
        within timeout: Duration, by take: @escaping () -> Bool
    ) async throws(MessageError) -> Bool { false }

    /// Takes the next piece for somebody who takes all that comes.
    @inline(__always)
    package func nextPiece(within timeout: Duration) async throws(MessageError) -> Int? {
        try await nextPiece(within: timeout, sparingly: false)
    }
}
