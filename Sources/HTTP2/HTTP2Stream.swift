// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPExchange
package import BearerdHTTPMessages

/// The received and the unsent data of one stream of an ``HTTP2Session``.
///
/// It outlives the stream: what has arrived can still be read once the stream is closed. Confined to the thread of its
/// session.
package final class HTTP2Stream {
    /// Odd and growing (RFC 9113 §5.1.1).
    package internal(set) var id: Int32

    // MARK: What comes in

    /// A server's side: the head; complete once ``hasHead`` is true.
    package var request = HTTPRequest()
    /// A client's side: the heads that nobody has taken, interim ones first.
    package var responses: [HTTPResponse] = []
    /// The protocol that an extended CONNECT asks for (RFC 8441), in place of the method's usual meaning.
    package internal(set) var connectProtocol: String?
    /// True once the head of a request, or the final head of a response, has arrived.
    package internal(set) var hasHead = false
    /// True if the request did not end in time, though it declares no content.
    package internal(set) var hasExpired = false
    /// A fault of the message that can be answered instead of resetting the stream.
    package internal(set) var fault: MessageFault?
    /// True if a request was reset here before its head was complete, for its head or for content that it did not declare.
    package var isMalformed: Bool {
        resetCode == .protocolError && !isResetByPeer && !hasHead && !hasBegunSending
    }
    /// The length that the head declares; nil without one.
    package internal(set) var declaredLength: UInt64?
    /// Content that has arrived and is not consumed.
    package internal(set) var received = StreamBytes()
    /// How much content has arrived.
    package internal(set) var receivedCount: UInt64 = 0
    /// True once the peer has ended its direction; ``trailers`` are complete then.
    package internal(set) var hasEnd = false
    package internal(set) var trailers = HTTPFields()

    /// How much of ``received`` may be handed out.
    ///
    /// The last byte of a declared length waits for the end of the stream, so that nobody who writes the message as HTTP/1.1
    /// has sent all of one that goes on, and is malformed.
    package var readableCount: Int {
        guard !hasEnd, let declaredLength, receivedCount >= declaredLength else { return received.count }
        return max(0, received.count - 1)
    }

    // MARK: What goes out

    /// Content that waits for the connection and the peer's window.
    package internal(set) var sending = StreamBytes()
    /// True if the message ends after ``sending``.
    var endsAfterSending = false
    var trailersToSend: HTTPFields?
    /// True if trailers follow the content that is to be sent.
    package var hasTrailersToSend: Bool { trailersToSend != nil }
    /// True once the head of the message, or the final head, was given to the session.
    package internal(set) var hasBegunSending = false
    /// True once the whole message, with its end, has been framed.
    package internal(set) var hasSentEnd = false
    /// How many bytes of content have been framed.
    package internal(set) var sentCount: UInt64 = 0

    // MARK: Its life

    /// Why the stream has ended early, on either side; nil while it goes on, and where both sides have ended in good order.
    package internal(set) var resetCode: HTTP2ErrorCode?
    /// True if the peer reset the stream.
    package internal(set) var isResetByPeer = false
    /// True if the peer has not processed the stream: REFUSED_STREAM, or above its GOAWAY (RFC 9113 §8.7).
    package internal(set) var isUnprocessed = false
    package internal(set) var isClosed = false

    /// Called, never from inside of the session, when any of this has changed.
    package var onChange: (() -> Void)?
    /// True once an exchange serves the stream.
    package var isTaken = false
    /// True if the stream is in the list of changed streams.
    var isTouched = false
    /// True once the stream was reported as new.
    var isAnnounced = false

    init(id: Int32) { self.id = id }

    /// A stream of our own, which ``HTTP2Session/request(_:on:scheme:hasContent:takesTrailers:connectProtocol:)`` begins.
    package convenience init() { self.init(id: 0) }

    /// Forgets the content that has arrived, and keeps no memory for it.
    package func letGo() { received = StreamBytes() }
}
